#include "token/detokenise.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "stream/stream.h"
#include "stream/text_column.h"
#include "stream/values.h"
#include "token/tokenizer.h"

/* A column of ids and its decoded texts. */
struct decoded_column {
	int in, out;
	int weights; /* of ids of terms: the column of their weights; -1: ids of tokens */
	struct text_column made;
};

/* A term of a text. */
struct weighed {
	int32_t id;
	double weight;
};

struct work {
	const struct detokenise_options *options;
	struct reader *in;
	struct writer *out;
	struct tokenizer *tokenizer;
	struct decoded_column *columns;
	size_t count;
	struct weighed *terms; /* of a text */
	size_t terms_room;
};

/* The column of weights beside a column of ids of terms (encode --emit sparse), or -1. */
static int
find_weights(const struct reader *in, const struct column *ids)
{
	char *name = mem_format("%s.weights", ids->name);
	int found = stream_find(in, name);

	free(name);
	if (found < 0)
		return -1;
	const struct column *weights = stream_column(in, found);
	return dtype_is_float(weights->dtype) && weights->depth == ids->depth &&
		       !weights->rank
		   ? found
		   : -1;
}

static void
add_columns(struct work *work)
{
	for (int i = 0; i < stream_columns(work->in); i++) {
		const struct column *ids = stream_column(work->in, i);
		const char *dot = strrchr(ids->name, '.');
		if (!dot || dot == ids->name || ids->dtype != DTYPE_I32 || ids->rank ||
		    ids->depth < 1)
			continue;
		int weights = find_weights(work->in, ids);
		if (strcmp(dot, ".ids") && weights < 0)
			continue;
		char *name = mem_format("%.*s%s", (int)(dot - ids->name), ids->name,
		    weights < 0 ? "" : ".terms");
		work->columns =
		    mem_resize(work->columns, work->count + 1, sizeof *work->columns);
		work->columns[work->count++] = (struct decoded_column){ .in = i,
			.weights = weights,
			.out = stream_add(work->out, &(struct column){ .name = name,
							 .dtype = DTYPE_U8,
							 .text = true,
							 .depth = ids->depth }) };
		if (!work->options->keep)
			stream_drop(work->out, ids->name);
		if (!work->options->keep && weights >= 0)
			stream_drop(work->out, stream_column(work->in, weights)->name);
		free(name);
	}
	if (!work->count)
		die("%s: has no column of token ids ('NAME.ids')", stream_name(work->in));
}

static int
by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* "search 1.83, engine 1.21", the heaviest first, to be freed. */
static char *
write_terms(const struct work *work, size_t count)
{
	struct buffer text = { 0 };

	qsort(work->terms, count, sizeof *work->terms, by_weight);
	for (size_t i = 0; i < count; i++) {
		const char *token = tokenizer_token(work->tokenizer, work->terms[i].id);
		char *one = mem_format("%s%s %.2f", i ? ", " : "", token ? token : "?",
		    work->terms[i].weight);
		buffer_add(&text, one, strlen(one));
		free(one);
	}
	buffer_add(&text, "", 1);
	return text.data;
}

/* The terms of a list, to be freed. */
static char *
decode_terms(struct work *work, const struct record *record,
    const struct decoded_column *texts, int64_t list)
{
	const struct column *ids = stream_column(work->in, texts->in),
			    *weights = stream_column(work->in, texts->weights);
	const struct array *id = &record->columns[texts->in],
			   *weight = &record->columns[texts->weights];
	const int64_t *starts = column_list_offsets(ids, id),
		      *others = column_list_offsets(weights, weight);
	size_t count = (size_t)(starts[list + 1] - starts[list]);

	if (column_lists(weights, weight, record->rows) <= list ||
	    others[list] != starts[list] || others[list + 1] != starts[list + 1])
		die("%s: record %lld: '%s' and '%s' have lists of different lengths",
		    stream_name(work->in), (long long)stream_records(work->in), ids->name,
		    weights->name);
	work->terms =
	    mem_grow(work->terms, &work->terms_room, count, sizeof *work->terms);
	for (size_t i = 0; i < count; i++) {
		size_t at = (size_t)starts[list] + i;
		work->terms[i].id = ((const int32_t *)id->data)[at];
		work->terms[i].weight =
		    values_number(work->in, texts->weights, weight, (int64_t)at);
	}
	return write_terms(work, count);
}

static void
decode_column(struct work *work, const struct record *record, struct record *made,
    struct decoded_column *texts)
{
	const struct column *column = stream_column(work->in, texts->in);
	const struct array *ids = &record->columns[texts->in];
	const int64_t *offsets = column_list_offsets(column, ids);
	int64_t lists = column_lists(column, ids, record->rows);

	text_column_clear(&texts->made);
	for (int64_t i = 0; i < lists; i++) {
		size_t length;
		char *text;
		if (texts->weights >= 0) {
			text = decode_terms(work, record, texts, i);
			length = strlen(text);
		} else {
			text = tokenizer_decode(work->tokenizer,
			    (const int32_t *)ids->data + offsets[i],
			    (size_t)(offsets[i + 1] - offsets[i]),
			    work->options->specials, &length);
		}
		text_column_add(&texts->made, text, length);
		free(text);
	}
	struct array *to = &made->columns[texts->out];
	struct array whole = text_column_array(&texts->made);
	to->data = whole.data;
	to->offsets[0] = ids->offsets[0];
	to->offsets[column->depth - 1] = whole.offsets[0];
}

void
detokenise(const struct detokenise_options *options, const char *path)
{
	struct work work = { .options = options, .in = stream_open(path) };
	struct record record;

	tokenizer_check(work.in, work.options->model);
	work.tokenizer = tokenizer_open(options->model);
	work.out = stream_create(options->output, work.in);
	stream_level(work.out, options->level);
	add_columns(&work);
	struct progress *progress = stream_progress(work.in);
	while (stream_next(work.in, &record)) {
		struct record *made = stream_make(work.out, &record);
		for (size_t i = 0; i < work.count; i++)
			decode_column(&work, &record, made, &work.columns[i]);
		stream_put(work.out, made);
	}
	stream_finish(work.out);
	progress_free(progress);
	for (size_t i = 0; i < work.count; i++)
		text_column_free(&work.columns[i].made);
	free(work.columns);
	free(work.terms);
	tokenizer_close(work.tokenizer);
	stream_close(work.in);
}
