#include "search/vector_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/hashed_file.h"
#include "search/index_columns.h"
#include "text/json.h"

/*
 * index.json: {"format": "motes index", "version": 1, or 2 with "cells" or "codes_only", or 3 with "removed" or "passages", "width", "similarity", "ids":
 * "names"|"numbers"|"places", "texts": true|false, "longest", "field", "column", "kind", "properties", "history", "columns":
 * hash, "graph": links of a row, "cells": number, "centroids": hash, "keeps", "parts": [{"rows", "ids": bytes, "texts": bytes, "hashes": {file: hash},
 * "kept", "command"}], "removed": {"rows", "hash"}, "checksum"}.  A part has the rows that one run of mts index added.
 */

const char *const vector_index_names[INDEX_FILES] = { "vectors.f32", "codes.u8",
	"bits.u64", "errors.f32", "places.u32", "cells.u64", "links.u32", "ids.u64",
	"ids", "texts.u64", "texts" };
const char *const vector_index_ids[] = { "names", "numbers", "places" };
static const int64_t ROWS_MOST = UINT32_MAX - 1;
enum {
	LATER = 2 /* version with cells or without floats */,
	WIDTH_MOST = 1 << 20,
	CELLS_MOST = 1 << 24
};

static char *
path_of(const struct vector_index *index, const char *file)
{
	return mem_format("%s/%s", index->name, file);
}

bool
vector_index_is(const char *path)
{
	char *about = mem_format("%s/" INDEX_ABOUT, path);
	struct stat status;
	bool is = !stat(about, &status) && S_ISREG(status.st_mode);

	free(about);
	return is;
}

bool
vector_index_has(const struct vector_index *index, enum vector_index_file file)
{
	switch (file) {
	case INDEX_VECTORS: return !index->codes_only;
	case INDEX_PLACES:
	case INDEX_CELL_ENDS: return index->cells;
	case INDEX_LINKS: return index->degree;
	case INDEX_ID_ENDS:
	case INDEX_IDS: return index->ids != ROW_PLACES;
	case INDEX_TEXT_ENDS:
	case INDEX_TEXTS: return index->texts;
	default: return true;
	}
}

/* Bytes of a file for so many rows; those of INDEX_IDS and INDEX_TEXTS are 0. */
static uint64_t
file_bytes(const struct vector_index *index, enum vector_index_file file, int64_t rows)
{
	uint64_t count = (uint64_t)rows, width = (uint64_t)index->width;

	switch (file) {
	case INDEX_VECTORS: return count * width * sizeof(float);
	case INDEX_CODES: return count * codes_stride(index->width);
	case INDEX_BITS: return count * codes_words(index->width) * sizeof(uint64_t);
	case INDEX_ERRORS: return count * sizeof(float);
	case INDEX_PLACES: return count * sizeof(uint32_t);
	case INDEX_LINKS: return count * (uint64_t)index->degree * sizeof(uint32_t);
	case INDEX_ID_ENDS:
	case INDEX_TEXT_ENDS: return count * sizeof(uint64_t);
	default: return 0;
	}
}

char *
vector_index_seal(const struct tree *about)
{
	struct tree *copy = tree_copy(about);

	tree_remove(copy, "checksum");
	char *text = json_text(copy, 0);
	tree_free(copy);
	return text;
}

/* Reading. --------------------------------------------------------------------------- */

static void
check_seal(const struct tree *about)
{
	char *text = vector_index_seal(about), hash[HASH_ROOM];

	hash_bytes(hash, text, strlen(text));
	if (strcmp(hash, tree_string(about, "checksum", "")) != 0)
		tree_die(about,
		    "it does not agree with its checksum: the index is damaged; make it again");
	free(text);
}

/* Bytes of the ends of a part's cells. */
static uint64_t
part_cells(const struct vector_index *index)
{
	return (uint64_t)index->cells * sizeof(uint64_t);
}

static void
read_parts(struct vector_index *index)
{
	const struct tree *parts = tree_need(index->about, "parts");

	index->parts = (int64_t)parts->count;
	index->part_starts = mem_zero(parts->count + 1, sizeof *index->part_starts);
	for (size_t i = 0; i < parts->count; i++) {
		const struct tree *part = parts->items[i];
		int64_t most = ROWS_MOST - index->rows;
		index->rows += tree_integer_in(part, "rows", 0, most);
		index->sizes[INDEX_IDS] +=
		    (uint64_t)tree_integer_in(part, "ids", 0, INT64_MAX >> 16);
		index->sizes[INDEX_TEXTS] +=
		    (uint64_t)tree_integer_in(part, "texts", 0, INT64_MAX >> 16);
		index->part_starts[i + 1] = index->rows;
	}
	index->sizes[INDEX_CELL_ENDS] = parts->count * part_cells(index);
	for (int file = 0; file < INDEX_FILES; file++) {
		enum vector_index_file which = (enum vector_index_file)file;
		if (which != INDEX_IDS && which != INDEX_TEXTS &&
		    which != INDEX_CELL_ENDS && vector_index_has(index, which))
			index->sizes[file] = file_bytes(index, which, index->rows);
	}
}

static void
parse(struct vector_index *index)
{
	const struct tree *about = index->about;
	const char *ids = tree_string(about, "ids", "");
	int64_t version = tree_integer(about, "version", 0);

	if (strcmp(tree_string(about, "format", ""), INDEX_FORMAT) != 0)
		tree_die(about, "not the description of an index; 'mts index' makes one");
	if (version < 1 || version > INDEX_CHANGED)
		tree_die(about,
		    "another version of the format; this program reads versions 1 to 3: make the index again");
	check_seal(about);
	index->width = (int)tree_integer_in(about, "width", 1, WIDTH_MOST);
	if (version >= LATER && tree_get(about, "cells"))
		index->cells = (int)tree_integer_in(about, "cells", 1, CELLS_MOST);
	if (tree_get(about, "graph"))
		index->degree = (int)tree_integer_in(about, "graph", 1, GRAPH_LINKS_MOST);
	index->codes_only = tree_boolean(about, "codes_only", false);
	index->passages = tree_boolean(about, "passages", false);
	index->longest = tree_real(about, "longest", 0);
	index->texts = tree_boolean(about, "texts", false);
	index->field = tree_string(about, "field", "");
	index->kind = tree_string(about, "kind", "embeddings");
	if (!similarity_parse(tree_string(about, "similarity", ""), &index->similarity))
		tree_die(about, "its similarity is not known");
	while (index->ids <= ROW_PLACES && strcmp(ids, vector_index_ids[index->ids]) != 0)
		index->ids++;
	if (index->ids > ROW_PLACES)
		tree_die(about, "its kind of ids is not known");
	read_parts(index);
	index->passing = index->rows;
}

/* Maps `rows` vectors from a file whose checksum index.json has. */
static const float *
read_vectors(struct vector_index *index, const char *file, const char *key, size_t rows,
    struct file_view *view)
{
	char *path = path_of(index, file), hash[HASH_ROOM];

	if (!file_view(path, view))
		die("%s: no such file; the index is not whole: make it again", path);
	hash_bytes(hash, view->text, view->length);
	if (view->length != rows * (size_t)index->width * sizeof(float) ||
	    strcmp(hash, tree_string(index->about, key, "")) != 0)
		die("%s: it does not agree with its checksum: the index is damaged; make it again",
		    path);
	free(path);
	return (const float *)(const void *)view->text;
}

/* Reads index.json and the columns only. */
static struct vector_index *
read_about(const char *path)
{
	struct vector_index *index = mem_zero(1, sizeof *index);

	index->name = mem_string(path);
	index->about = json_need(path, INDEX_ABOUT);
	parse(index);
	index->columns = code_columns(
	    read_vectors(index, INDEX_COLUMNS, "columns", 4, &index->columns_view),
	    index->width);
	if (index->cells)
		index->centroids = read_vectors(index, INDEX_CENTROIDS, "centroids",
		    (size_t)index->cells, &index->centroids_view);
	return index;
}

/* Maps a file, which may be longer than the index: then rows are being added. */
static void
map_file(struct vector_index *index, enum vector_index_file file)
{
	struct file_view *view = &index->views[file];

	if (!vector_index_has(index, file))
		return;
	char *path = path_of(index, vector_index_names[file]);
	if (!file_view(path, view))
		die("%s: no such file; the index is not whole: make it again", path);
	if (view->length < index->sizes[file])
		die("%s: it has %zu bytes, and its index says %llu: it was cut off; make the index again",
		    path, view->length, (unsigned long long)index->sizes[file]);
	free(path);
}

static const void *
start_of(const struct vector_index *index, enum vector_index_file file)
{
	return index->views[file].text;
}

/* Dies unless the last end is that of the file. */
static void
check_ends(const struct vector_index *index, enum vector_index_file ends,
    enum vector_index_file file)
{
	const uint64_t *at = start_of(index, ends);

	if (vector_index_has(index, file) &&
	    (index->rows ? at[index->rows - 1] : 0) != index->sizes[file])
		die("%s/%s: its last row does not end where the file '%s' ends: the index is damaged; make it again",
		    index->name, vector_index_names[ends], vector_index_names[file]);
}

/* Rows that a search may find. ------------------------------------------------------- */

void
vector_index_let_pass(struct vector_index *index, bool *pass)
{
	index->passing = 0;
	for (int64_t row = 0; row < index->rows; row++) {
		pass[row] = pass[row] && !(index->removed && index->removed[row]);
		index->passing += pass[row];
	}
	free(index->pass);
	index->pass = pass;
	if (!index->places)
		return;
	index->pass = mem_new((size_t)index->rows + 1, sizeof *pass);
	for (int64_t place = 0; place < index->rows; place++)
		index->pass[place] = pass[vector_index_row(index, place)];
	free(pass);
}

static void
read_removed(struct vector_index *index)
{
	const struct tree *removed = tree_get(index->about, "removed");
	struct file_view view;

	if (!removed)
		return;
	char *path = path_of(index, INDEX_REMOVED), hash[HASH_ROOM];
	int64_t count = tree_integer_in(removed, "rows", 0, index->rows);
	if (!file_view(path, &view))
		die("%s: no such file; the index is not whole: make it again", path);
	size_t bytes = (size_t)count * sizeof(uint32_t);
	if (view.length >= bytes)
		hash_bytes(hash, view.text, bytes);
	if (view.length < bytes || strcmp(hash, tree_string(removed, "hash", "")) != 0)
		die("%s: it does not agree with its checksum: the index is damaged; make it again",
		    path);
	index->removed = mem_zero((size_t)index->rows + 1, sizeof *index->removed);
	for (int64_t i = 0; i < count; i++) {
		uint32_t row = ((const uint32_t *)(const void *)view.text)[i];
		if (row >= index->rows)
			die("%s: there is no row %u: the index is damaged; make it again",
			    path, row + 1);
		index->removed[row] = true;
	}
	bool *pass = mem_new((size_t)index->rows + 1, sizeof *pass);
	memset(pass, true, (size_t)index->rows);
	vector_index_let_pass(index, pass);
	file_view_close(&view);
	free(path);
}

struct vector_index *
vector_index_open(const char *path)
{
	struct vector_index *index = read_about(path);

	for (int file = 0; file < INDEX_FILES; file++)
		map_file(index, (enum vector_index_file)file);
	index->vectors = start_of(index, INDEX_VECTORS);
	index->codes = start_of(index, INDEX_CODES);
	index->bits = start_of(index, INDEX_BITS);
	index->errors = start_of(index, INDEX_ERRORS);
	index->places = start_of(index, INDEX_PLACES);
	index->cell_ends = start_of(index, INDEX_CELL_ENDS);
	index->links = start_of(index, INDEX_LINKS);
	check_ends(index, INDEX_ID_ENDS, INDEX_IDS);
	check_ends(index, INDEX_TEXT_ENDS, INDEX_TEXTS);
	read_removed(index);
	return index;
}

void
vector_index_close(struct vector_index *index)
{
	for (int file = 0; file < INDEX_FILES; file++)
		file_view_close(&index->views[file]);
	file_view_close(&index->columns_view);
	file_view_close(&index->centroids_view);
	free(index->part_starts);
	tree_free(index->about);
	free(index->pass);
	free(index->removed);
	free(index->name);
	free(index);
}

static void
check_increasing(const struct vector_index *index, enum vector_index_file ends)
{
	const uint64_t *at = start_of(index, ends);

	for (int64_t i = 1; at && i < index->rows; i++)
		if (at[i] < at[i - 1])
			die("%s/%s: row %lld ends before it starts: the index is damaged; make it again",
			    index->name, vector_index_names[ends], (long long)i + 1);
}

/* Compares the files of rows with the checksums of each part. */
static void
check_rows(const struct vector_index *index)
{
	const struct tree *parts = tree_need(index->about, "parts");
	uint64_t at[INDEX_FILES] = { 0 };
	char hash[HASH_ROOM];

	for (size_t i = 0; i < parts->count; i++) {
		const struct tree *part = parts->items[i],
				  *hashes = tree_need(part, "hashes");
		for (int file = 0; file < INDEX_FILES; file++) {
			const char *name = vector_index_names[file];
			uint64_t size = file_bytes(index, (enum vector_index_file)file,
			    tree_integer(part, "rows", 0));
			if (!vector_index_has(index, (enum vector_index_file)file))
				continue;
			if (file == INDEX_IDS || file == INDEX_TEXTS)
				size = (uint64_t)tree_integer(part, name, 0);
			if (file == INDEX_CELL_ENDS)
				size = part_cells(index);
			hash_bytes(hash, index->views[file].text + at[file], size);
			if (strcmp(hash, tree_string(hashes, name, "")) != 0)
				die("%s/%s: it does not agree with its checksum: the index is damaged; make it again",
				    index->name, name);
			at[file] += size;
		}
	}
}

void
vector_index_check(const char *path)
{
	struct vector_index *index = vector_index_open(path);

	check_rows(index);
	check_increasing(index, INDEX_ID_ENDS);
	check_increasing(index, INDEX_TEXT_ENDS);
	index_columns_check(index);
	vector_index_close(index);
}

/* Rows. ------------------------------------------------------------------------------ */

struct vectors_origin
vector_index_origin(const struct vector_index *index)
{
	const struct tree *properties = tree_get(index->about, "properties");

	return (struct vectors_origin){ index->name,
		tree_string(properties, "model", NULL), index->kind, index->width };
}

const float *
vector_index_vector(const struct vector_index *index, int64_t place, float *room)
{
	int width = index->width;

	if (!index->codes_only)
		return index->vectors + place * width;
	codes_decode(room, index->codes + (size_t)place * codes_stride(width),
	    index->errors[place], &index->columns, width);
	return room;
}

uint32_t
vector_index_row(const struct vector_index *index, int64_t place)
{
	uint32_t row = index->places ? index->places[place] : (uint32_t)place;

	if (row >= index->rows)
		die("%s/%s: vector %lld is of no row: the index is damaged; make it again",
		    index->name, vector_index_names[INDEX_PLACES], (long long)place + 1);
	return row;
}

uint32_t *
vector_index_places(const struct vector_index *index)
{
	uint32_t *places = NULL;

	if (index->places)
		places = mem_zero((size_t)index->rows + 1, sizeof *places);
	for (int64_t place = 0; places && place < index->rows; place++)
		places[vector_index_row(index, place)] = (uint32_t)place;
	return places;
}

struct cell_span
vector_index_cell(const struct vector_index *index, int64_t part, uint32_t cell)
{
	const uint64_t *ends = index->cell_ends + part * index->cells;
	uint64_t first = cell ? ends[cell - 1] : 0, end = ends[cell];
	int64_t start = index->part_starts[part],
		rows = index->part_starts[part + 1] - start;

	if (first > end || end > (uint64_t)rows)
		die("%s/%s: cell %lld does not end in its part: the index is damaged; make it again",
		    index->name, vector_index_names[INDEX_CELL_ENDS],
		    (long long)cell + 1);
	return (struct cell_span){ start + (int64_t)first, start + (int64_t)end };
}

static const char *
row_of(const struct vector_index *index, enum vector_index_file ends,
    enum vector_index_file file, int64_t row, size_t *length)
{
	const uint64_t *at = start_of(index, ends);
	uint64_t start = row ? at[row - 1] : 0, end = at[row];

	if (start > end || end > index->sizes[file])
		die("%s/%s: row %lld is not in '%s': the index is damaged; make it again",
		    index->name, vector_index_names[ends], (long long)row + 1,
		    vector_index_names[file]);
	*length = (size_t)(end - start);
	return index->views[file].text + start;
}

const char *
vector_index_id(const struct vector_index *index, int64_t row, size_t *length)
{
	return row_of(index, INDEX_ID_ENDS, INDEX_IDS, row, length);
}

const char *
vector_index_text(const struct vector_index *index, int64_t row, size_t *length)
{
	return row_of(index, INDEX_TEXT_ENDS, INDEX_TEXTS, row, length);
}

int
vector_index_order(const void *context, uint32_t a, uint32_t b)
{
	const struct vector_index *index = context;
	size_t one, other;

	if (index->ids == ROW_PLACES)
		return (a < b) - (a > b);
	const char *x = vector_index_id(index, a, &one);
	const char *y = vector_index_id(index, b, &other);
	int sign = memcmp(x, y, one < other ? one : other);
	return sign ? sign : (one > other) - (one < other);
}
