#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "mts/mts.h"
#include "search/index_columns.h"
#include "search/vector_index.h"
#include "stream/cursor.h"
#include "stream/gather.h"

/* The columns that an index keeps, read file by file. */
struct kept_files {
	int64_t files, file; /* file: the number of the open one, from 1; 0: none */
	struct reader *first, *reader;
	struct cursor *cursor;
	int *made;		/* [stream_columns], their numbers in made records */
	struct gather *gathers; /* [stream_columns] */
};

/* The rows of an index that are written. */
struct index_rows {
	struct vector_index *index;
	struct writer *writer;
	struct kept_files kept;
	int id, text, vector; /* made columns; -1: none */
	uint32_t *places;     /* vector_index_places */
	int64_t *rows;	      /* of the record [count] */
	int64_t count;
	int64_t *numbers; /* [room], ids that are integers */
	int64_t *ends;	  /* [room + 1] */
	float *vectors;	  /* [room, width] */
};

/* Kept columns. ---------------------------------------------------------------------- */

static void
open_kept(struct index_rows *to)
{
	struct kept_files *kept = &to->kept;
	char *path = index_columns_path(to->index, ++kept->file);

	kept->reader = stream_open(path);
	if (!kept->first)
		kept->first = kept->reader;
	else
		stream_agree(kept->first, kept->reader);
	kept->cursor = cursor_new(kept->reader);
	free(path);
}

static void
close_kept(struct kept_files *kept)
{
	cursor_free(kept->cursor);
	if (kept->reader != kept->first)
		stream_close(kept->reader);
}

static void
add_kept(struct index_rows *to)
{
	struct kept_files *kept = &to->kept;

	if (!kept->first)
		return;
	size_t count = (size_t)stream_columns(kept->first);
	kept->made = mem_new(count + 1, sizeof *kept->made);
	kept->gathers = mem_zero(count + 1, sizeof *kept->gathers);
	for (size_t c = 0; c < count; c++)
		kept->made[c] =
		    stream_add(to->writer, stream_column(kept->first, (int)c));
}

static void
free_kept(struct kept_files *kept)
{
	if (!kept->first)
		return;
	close_kept(kept);
	for (int c = 0; c < stream_columns(kept->first); c++)
		gather_free(&kept->gathers[c]);
	stream_close(kept->first);
	free(kept->made);
	free(kept->gathers);
}

/* The rows of the open file that are left, at most `most`; opens the next file at the end of one. */
static int64_t
kept_left(struct index_rows *to, int64_t most)
{
	struct kept_files *kept = &to->kept;
	int64_t left;

	if (!kept->first)
		return most;
	while (!(left = cursor_left(kept->cursor))) {
		if (kept->file == kept->files)
			die("%s: it keeps the columns of fewer rows than it has: it is damaged; make it again",
			    to->index->name);
		close_kept(kept);
		open_kept(to);
	}
	return left < most ? left : most;
}

/* The kept columns of the record's rows, which are among the next `count` rows from `first` on. */
static void
put_kept(struct index_rows *to, struct record *made, int64_t first, int64_t count)
{
	struct kept_files *kept = &to->kept;

	if (!kept->first)
		return;
	const struct array *arrays = cursor_take(kept->cursor, count);
	struct row_ref *refs = mem_new((size_t)to->count + 1, sizeof *refs);
	for (int64_t i = 0; i < to->count; i++)
		refs[i] = (struct row_ref){ arrays, to->rows[i] - first };
	for (int c = 0; c < stream_columns(kept->first); c++)
		made->columns[kept->made[c]] = gather_rows(
		    &kept->gathers[c], stream_column(kept->first, c), c, refs, to->count);
	free(refs);
}

/* Ids, texts and vectors. ------------------------------------------------------------ */

static int
add_column(struct index_rows *to, const struct column *column)
{
	if (to->kept.first && stream_find(to->kept.first, column->name) >= 0)
		return -1; /* the index keeps it */
	return stream_add(to->writer, column);
}

static void
add_columns(struct index_rows *to)
{
	const struct vector_index *index = to->index;
	struct column id = { .name = "_id", .dtype = DTYPE_U8, .text = true, .depth = 1 };
	struct column text = id,
		      vector = { .name = tree_string(index->about, "column", "emb"),
			      .dtype = DTYPE_F32,
			      .rank = 1,
			      .shape = { index->width } };

	text.name = "text";
	if (index->ids == ROW_NUMBERS)
		id = (struct column){ .name = "id", .dtype = DTYPE_I64 };
	to->id = index->ids == ROW_PLACES ? -1 : add_column(to, &id);
	to->text = index->texts ? add_column(to, &text) : -1;
	add_kept(to);
	to->vector = add_column(to, &vector);
}

/* Bytes of the record's rows, one after another, to be freed; ends [count + 1]: where each starts and ends. */
static char *
take_texts(struct index_rows *to,
    const char *(*get)(const struct vector_index *, int64_t, size_t *), int64_t *ends)
{
	size_t room = 0, used = 0, length;
	char *bytes = mem_grow(NULL, &room, 1, 1);

	ends[0] = 0;
	for (int64_t i = 0; i < to->count; i++) {
		const char *text = get(to->index, to->rows[i], &length);
		bytes = mem_grow(bytes, &room, used + length + 1, 1);
		memcpy(bytes + used, text, length);
		used += length;
		ends[i + 1] = (int64_t)used;
	}
	return bytes;
}

static void
put_numbers(struct index_rows *to, struct record *made)
{
	for (int64_t i = 0; i < to->count; i++) {
		size_t length;
		const char *digits = vector_index_id(to->index, to->rows[i], &length);
		char text[32] = { 0 };
		memcpy(text, digits, length < sizeof text ? length : sizeof text - 1);
		to->numbers[i] = strtoll(text, NULL, 10);
	}
	made->columns[to->id].data = to->numbers;
}

static void
put_vectors(struct index_rows *to, struct record *made)
{
	size_t width = (size_t)to->index->width;

	if (to->vector < 0)
		return;
	for (int64_t i = 0; i < to->count; i++) {
		float *at = to->vectors + (size_t)i * width;
		int64_t row = to->rows[i], place = to->places ? to->places[row] : row;
		const float *vector = vector_index_vector(to->index, place, at);
		if (vector != at)
			memcpy(at, vector, width * sizeof *at);
	}
	made->columns[to->vector].data = to->vectors;
}

/* Writes those of the next `count` rows from `first` on that are not removed. */
static void
put_rows(struct index_rows *to, int64_t first, int64_t count)
{
	const struct vector_index *index = to->index;
	struct record *made = stream_make(to->writer, NULL);
	int64_t *id_ends = mem_new((size_t)count + 1, sizeof *id_ends);
	char *ids = NULL, *texts = NULL;

	to->count = 0;
	for (int64_t row = first; row < first + count; row++)
		if (!index->removed || !index->removed[row])
			to->rows[to->count++] = row;
	made->rows = to->count;
	put_kept(to, made, first, count);
	if (to->id >= 0 && index->ids == ROW_NUMBERS) {
		put_numbers(to, made);
	} else if (to->id >= 0) {
		ids = take_texts(to, vector_index_id, id_ends);
		made->columns[to->id] =
		    (struct array){ .offsets = { id_ends }, .data = ids };
	}
	if (to->text >= 0) {
		texts = take_texts(to, vector_index_text, to->ends);
		made->columns[to->text] =
		    (struct array){ .offsets = { to->ends }, .data = texts };
	}
	put_vectors(to, made);
	if (to->count)
		stream_put(to->writer, made);
	free(id_ends);
	free(ids);
	free(texts);
}

/* The whole index. ------------------------------------------------------------------- */

/* The properties and the history of the streams that the index was made of. */
static void
put_header(const struct index_rows *to)
{
	const struct tree *about = to->index->about,
			  *properties = tree_get(about, "properties");
	const char *column = tree_string(about, "column", "");
	size_t length = strlen(column);

	for (size_t i = 0; properties && i < properties->count; i++) {
		const struct tree *property = properties->items[i];
		bool coded = !strncmp(property->key, column, length) &&
			     (!strcmp(property->key + length, STREAM_RANGES) ||
				 !strcmp(property->key + length, STREAM_BITS));
		if (!coded && property->kind == TREE_STRING) /* vectors are floats here */
			stream_property(to->writer, property->key, property->string);
	}
	stream_earlier(to->writer, tree_get(about, "history"));
}

void
from_index(const char *path, int64_t most, struct writer *writer)
{
	struct index_rows to = { .index = vector_index_open(path), .writer = writer };
	int64_t rows = to.index->rows;
	size_t room = (size_t)most, width = (size_t)to.index->width;

	put_header(&to);
	to.kept.files = index_columns_files(to.index->about);
	if (to.kept.files)
		open_kept(&to);
	add_columns(&to);
	to.places = vector_index_places(to.index);
	to.rows = mem_new(room, sizeof *to.rows);
	to.numbers = mem_new(room, sizeof *to.numbers);
	to.ends = mem_new(room + 1, sizeof *to.ends);
	to.vectors = mem_new(mem_multiply(room, width, "vectors"), sizeof *to.vectors);
	struct progress *progress = progress_new("rows", rows);
	for (int64_t first = 0, count; first < rows; first += count) {
		count = kept_left(&to, most < rows - first ? most : rows - first);
		put_rows(&to, first, count);
		progress_add(progress, count);
	}
	progress_free(progress);
	free_kept(&to.kept);
	free(to.places);
	free(to.rows);
	free(to.numbers);
	free(to.ends);
	free(to.vectors);
	vector_index_close(to.index);
}
