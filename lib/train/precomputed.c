#include "train/precomputed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strings.h"
#include "stream/values.h"
#include "token/tokenizer.h"

struct precomputed {
	struct strings *texts; /* token ids, as bytes */
	float *vectors;	       /* [texts, width] */
	size_t room, width;
	uint64_t hash; /* of texts and vectors, in their order */
};

/* The column X.emb of a column X.ids; -1: none. */
static int
beside(const struct reader *reader, int ids)
{
	const struct column *column = stream_column(reader, ids);
	size_t length = strlen(column->name);

	if (length < 5 || strcmp(column->name + length - 4, ".ids") ||
	    column->dtype != DTYPE_I32 || column->rank || column->depth < 1)
		return -1;
	char *field = mem_format("%.*s", (int)length - 4, column->name);
	int found = values_find_embedding(reader, field, column->depth - 1);
	free(field);
	return found;
}

static void
take(struct precomputed *precomputed, const struct reader *reader,
    const struct record *record, int ids, int emb, struct floats *room)
{
	const struct array *array = &record->columns[ids];
	const struct column *column = stream_column(reader, ids);
	int64_t lists = column_lists(column, array, record->rows);
	const int64_t *offsets = column_list_offsets(column, array);
	const float *vectors =
	    values_floats(stream_column(reader, emb), &record->columns[emb], lists, room);
	size_t width = precomputed->width;

	for (int64_t i = 0; i < lists; i++) {
		const int32_t *text = (const int32_t *)array->data + offsets[i];
		bool fresh;
		values_refuse_nan(reader, emb, &record->columns[emb], i,
		    vectors + (size_t)i * width, (int)width);
		size_t bytes = (size_t)(offsets[i + 1] - offsets[i]) * sizeof *text;
		size_t number = (size_t)strings_add(
		    precomputed->texts, (const char *)text, bytes, &fresh);
		if (!fresh)
			continue;
		precomputed->hash = rng_hash(precomputed->hash, text, bytes);
		precomputed->hash = rng_hash(precomputed->hash,
		    vectors + (size_t)i * width, width * sizeof *vectors);
		precomputed->vectors = mem_grow(precomputed->vectors, &precomputed->room,
		    (number + 1) * width, sizeof *precomputed->vectors);
		memcpy(precomputed->vectors + number * width, vectors + (size_t)i * width,
		    width * sizeof *vectors);
	}
}

/* Dies unless the stream is the model's and has embeddings with their tokens. */
static void
check(const struct reader *reader, const struct model *model)
{
	const struct tree *properties = stream_properties(reader);
	const char *made = tree_string(properties, "model", "");
	const char *emb = tree_string(properties, "emb", NULL);
	int pairs = 0;

	tokenizer_check(reader, model_dir(model));
	if (strcmp(made, model_fingerprint(model)))
		die("%s: its vectors are of the model '%s'; %s is %s",
		    stream_name(reader), made, model_dir(model),
		    model_fingerprint(model));
	if (tree_get(properties, "gates"))
		die("%s: its vectors are of an adapter; leave out --adapter and --gates of encode",
		    stream_name(reader));
	if (emb)
		die("%s: its embeddings are '%s'; leave out --emit of encode",
		    stream_name(reader), emb);
	for (int i = 0; i < stream_columns(reader); i++) {
		int vectors = beside(reader, i);
		if (vectors < 0)
			continue;
		pairs++;
		if (values_width(reader, vectors) != model_width(model))
			die("%s: '%s' has vectors of %d components; %s makes %d",
			    stream_name(reader), stream_column(reader, vectors)->name,
			    values_width(reader, vectors), model_dir(model),
			    model_width(model));
	}
	if (!pairs)
		die("%s: has no embeddings (X.emb) with their tokens (X.ids) beside them; encode --keep makes both",
		    stream_name(reader));
}

struct precomputed *
precomputed_open(const char *path, const struct model *model)
{
	struct precomputed *precomputed = mem_zero(1, sizeof *precomputed);
	struct reader *reader = stream_open(path);
	struct floats room = { 0 };
	struct record record;

	check(reader, model);
	precomputed->texts = strings_new();
	precomputed->width = (size_t)model_width(model);
	while (stream_next(reader, &record))
		for (int i = 0; i < stream_columns(reader); i++)
			if (beside(reader, i) >= 0)
				take(precomputed, reader, &record, i, beside(reader, i),
				    &room);
	free(room.data);
	stream_close(reader);
	return precomputed;
}

uint64_t
precomputed_hash(const struct precomputed *precomputed)
{
	return precomputed->hash;
}

const float *
precomputed_find(
    const struct precomputed *precomputed, const int32_t *ids, int64_t length)
{
	int64_t number = strings_find(
	    precomputed->texts, (const char *)ids, (size_t)length * sizeof *ids);

	return number < 0 ? NULL
			  : precomputed->vectors + (size_t)number * precomputed->width;
}

void
precomputed_free(struct precomputed *precomputed)
{
	if (!precomputed)
		return;
	strings_free(precomputed->texts);
	free(precomputed->vectors);
	free(precomputed);
}
