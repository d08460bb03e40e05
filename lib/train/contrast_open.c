#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "ranks/ranks.h"
#include "token/tokenizer.h"
#include "train/contrast_internal.h"

const char *const contrast_sides[] = { "query", "document", "negatives" };

static char *
column_name(enum side side, const char *suffix)
{
	return mem_format("%s.%s", contrast_sides[side], suffix);
}

static int
find(struct contrast *contrast, enum side side, const char *suffix, enum dtype dtype)
{
	char *name = column_name(side, suffix);
	int index = stream_find(contrast->reader, name);

	if (index >= 0 && stream_column(contrast->reader, index)->dtype != dtype)
		die("%s: column \"%s\" is %s, %s was expected",
		    stream_name(contrast->reader), name,
		    dtype_name(stream_column(contrast->reader, index)->dtype),
		    dtype_name(dtype));
	free(name);
	return index;
}

/* The column of relation targets, of twice the model's width; -1: not wanted. */
static int
find_target(const struct contrast *contrast)
{
	static const char name[] = "relation.target";
	const struct reader *reader = contrast->reader;
	int index = stream_find(reader, name), width = 2 * model_width(contrast->model);

	if (!contrast->options.targets)
		return -1;
	if (index < 0)
		die("%s: there is no column \"%s\", to which --reze holds the model; reze-stats apply makes it",
		    stream_name(reader), name);
	const struct column *column = stream_column(reader, index);
	if (column->depth != 0 || column->rank != 1 || !dtype_is_float(column->dtype) ||
	    column->shape[0] != width)
		die("%s: column \"%s\" is not of vectors of %d components, twice the width of %s",
		    stream_name(reader), name, width, model_dir(contrast->model));
	return index;
}

void
contrast_open_stream(struct contrast *contrast)
{
	contrast->reader = stream_open(contrast->path);
	for (enum side side = QUERY; side < SIDES; side++) {
		int ids = find(contrast, side, "ids", DTYPE_I32);
		contrast->key[side] = find(contrast, side, "key", DTYPE_I64);
		contrast->text[side] =
		    text_batch_column(contrast->reader, ids, contrast_sides[side],
			contrast_sides[side == QUERY ? QUERY : DOCUMENT], false);
	}
	stream_need(contrast->reader, "query.ids", DTYPE_I32, 1);
	stream_need(contrast->reader, "document.ids", DTYPE_I32, 1);
	contrast->target = find_target(contrast);
	contrast->texts.in = contrast->reader;
}

/* Dies if the stream is not this rank's. */
static void
check_rank(const struct contrast *contrast)
{
	const struct tree *properties = stream_properties(contrast->reader);
	const char *name = stream_name(contrast->reader);
	long rank = strtol(tree_string(properties, "rank", "0"), NULL, 10);
	long ranks = strtol(tree_string(properties, "ranks", "1"), NULL, 10);

	if (ranks == ranks_count() && rank == ranks_own())
		return;
	if (ranks == 1)
		die("%s: has whole batches, of which each of %d ranks would learn the same; tasksample --rank %d --ranks %d makes a rank's",
		    name, ranks_count(), ranks_own(), ranks_count());
	die("%s: is for rank %ld of %ld, but is read by rank %d of %d", name, rank, ranks,
	    ranks_own(), ranks_count());
}

/* Warns if the relation targets were computed by another model. */
static void
check_model(const struct contrast *contrast)
{
	const char *made =
	    tree_string(stream_properties(contrast->reader), "model", NULL);

	if (contrast->options.targets && made &&
	    strcmp(made, model_fingerprint(contrast->model)) != 0)
		warn(
		    "%s: the targets are of another model than %s, which learns from them",
		    stream_name(contrast->reader), model_dir(contrast->model));
}

/* Warns of columns of tokens that the loss does not use, for example negatives under another name. */
static void
tell_unread(const struct contrast *contrast)
{
	const struct reader *reader = contrast->reader;

	for (int i = 0; i < stream_columns(reader); i++) {
		const char *name = stream_column(reader, i)->name;
		size_t length = strlen(name);
		bool read = length < 4 || strcmp(name + length - 4, ".ids") != 0;
		for (enum side side = QUERY; side < SIDES; side++)
			read |= contrast->text[side].ids == i;
		if (!read)
			warn(
			    "%s: column \"%s\" is not trained on; hard negatives are in \"negatives.ids\", which tok -f negatives=%.*s makes",
			    stream_name(reader), name, (int)length - 4, name);
	}
}

struct contrast *
contrast_open(
    const char *path, struct model *model, const struct contrast_options *options)
{
	struct contrast *contrast = mem_zero(1, sizeof *contrast);

	contrast->path = mem_string(path);
	contrast->model = model;
	contrast->options = *options;
	contrast->texts =
	    (struct text_batch){ .model = model, .expert = contrast->options.expert };
	contrast_open_stream(contrast);
	check_rank(contrast);
	tell_unread(contrast);
	tokenizer_check(contrast->reader, model_dir(model));
	check_model(contrast);
	batch_sync_open(&contrast->sync);
	if (options->documents)
		contrast->precomputed = precomputed_open(options->documents, model);
	if (options->expert)
		text_batch_option(model, options->expert);
	return contrast;
}

void
contrast_close(struct contrast *contrast)
{
	if (contrast->reader)
		stream_close(contrast->reader);
	text_batch_free(&contrast->texts);
	precomputed_free(contrast->precomputed);
	free(contrast->path);
	free(contrast->keys);
	free(contrast->targets.data);
	batch_sync_close(&contrast->sync);
	free(contrast);
}
