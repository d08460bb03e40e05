#include "token/detokenise.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "stream/stream.h"
#include "token/tokenizer.h"

/* A column of ids and its decoded texts. */
struct decoded_column {
	int in, out;
	char *bytes;
	int64_t *offsets;
	size_t bytes_room, offsets_room;
};

struct work {
	const struct detokenise_options *options;
	struct reader *in;
	struct writer *out;
	struct tokenizer *tokenizer;
	struct decoded_column *columns;
	size_t count;
};

static void
add_columns(struct work *work)
{
	for (int i = 0; i < stream_columns(work->in); i++) {
		const struct column *ids = stream_column(work->in, i);
		size_t length = strlen(ids->name);
		if (length < 5 || strcmp(ids->name + length - 4, ".ids") ||
		    ids->dtype != DTYPE_I32 || ids->rank || ids->depth < 1)
			continue;
		char *name = mem_format("%.*s", (int)length - 4, ids->name);
		work->columns =
		    mem_resize(work->columns, work->count + 1, sizeof *work->columns);
		work->columns[work->count++] = (struct decoded_column){ .in = i,
			.out = stream_add(work->out, &(struct column){ .name = name,
							 .dtype = DTYPE_U8,
							 .text = true,
							 .depth = ids->depth }) };
		if (!work->options->keep)
			stream_drop(work->out, ids->name);
		free(name);
	}
	if (!work->count)
		die("%s: has no column of token ids ('NAME.ids')", stream_name(work->in));
}

static void
decode_column(const struct work *work, const struct record *record, struct record *made,
    struct decoded_column *texts)
{
	const struct column *column = stream_column(work->in, texts->in);
	const struct array *ids = &record->columns[texts->in];
	const int64_t *offsets = column_list_offsets(column, ids);
	int64_t lists = column_lists(column, ids, record->rows);
	size_t used = 0;

	texts->offsets = mem_grow(texts->offsets, &texts->offsets_room, (size_t)lists + 1,
	    sizeof *texts->offsets);
	texts->offsets[0] = 0;
	for (int64_t i = 0; i < lists; i++) {
		size_t length;
		char *text = tokenizer_decode(work->tokenizer,
		    (const int32_t *)ids->data + offsets[i],
		    (size_t)(offsets[i + 1] - offsets[i]), work->options->specials,
		    &length);
		texts->bytes = mem_grow(texts->bytes, &texts->bytes_room,
		    mem_add(used, length + 1, "texts"), 1);
		memcpy(texts->bytes + used, text, length);
		used += length;
		texts->offsets[i + 1] = (int64_t)used;
		free(text);
	}
	struct array *to = &made->columns[texts->out];
	to->data = texts->bytes;
	to->offsets[0] = ids->offsets[0];
	to->offsets[column->depth - 1] = texts->offsets;
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
	for (size_t i = 0; i < work.count; i++) {
		free(work.columns[i].bytes);
		free(work.columns[i].offsets);
	}
	free(work.columns);
	tokenizer_close(work.tokenizer);
	stream_close(work.in);
}
