#include "search/index_addition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "search/cells.h"
#include "search/index_columns.h"

char *
index_addition_path(const struct index_addition *adding, const char *file)
{
	return mem_format("%s/%s", adding->folder, file);
}

const void *
index_addition_view(
    const struct index_addition *adding, const char *file, struct file_view *view)
{
	char *path = index_addition_path(adding, file);

	if (!file_view(path, view))
		die("%s:", path);
	free(path);
	return view->text;
}

/* Writes and maps vectors [rows, width] of a new index, and notes their checksum in index.json. */
static const float *
put_vectors(struct index_addition *adding, struct tree *about, const char *file,
    const char *key, const float *vectors, size_t rows, struct file_view *view)
{
	char *path = index_addition_path(adding, file), hash[HASH_ROOM];
	struct hashed_file *made = hashed_file_open(path, 0);

	hashed_file_write(
	    made, vectors, rows * (size_t)adding->index->width * sizeof *vectors);
	hashed_file_end(made, hash);
	tree_set(about, key, tree_of_string(hash));
	free(path);
	return index_addition_view(adding, file, view);
}

static void
open_file(struct index_addition *adding, enum vector_index_file file)
{
	char *path = index_addition_path(adding, vector_index_names[file]);

	if (vector_index_has(adding->index, file))
		adding->files[file] = hashed_file_open(path, adding->index->sizes[file]);
	free(path);
}

static void
close_file(struct index_addition *adding, enum vector_index_file file)
{
	char hash[HASH_ROOM];

	if (!adding->files[file])
		return;
	hashed_file_end(adding->files[file], hash);
	adding->files[file] = NULL;
	tree_set(adding->hashes, vector_index_names[file], tree_of_string(hash));
}

/* Writes bytes and where they end. */
static void
put_text(struct index_addition *adding, enum vector_index_file ends,
    enum vector_index_file file, const char *text, size_t length)
{
	adding->ends[file] += length;
	hashed_file_write(adding->files[file], text, length);
	hashed_file_write(adding->files[ends], &adding->ends[file], sizeof(uint64_t));
}

/* Returns false if the row's id does not count, or if the index has the same row. */
static bool
add_row(struct index_addition *adding, const struct row *row, float *vector)
{
	const struct vector_index *index = adding->index;
	int64_t old = -1;

	if (index->ids != ROW_PLACES && !index_changes_meet(adding->changes, row, &old)) {
		rows_note(adding->rows, ROW_REPEATED, row);
		return false;
	}
	double length = rows_search_vector(adding->rows, index->similarity, vector, row);
	if (old >= 0 && !index_changes_replace(adding->changes, old, row, vector))
		return false;
	adding->longest = fmax(adding->longest, length);
	hashed_file_write(adding->raw ? adding->raw : adding->files[INDEX_VECTORS],
	    vector, (size_t)index->width * sizeof *vector);
	if (index->ids != ROW_PLACES)
		put_text(adding, INDEX_ID_ENDS, INDEX_IDS, row->id, row->length);
	if (index->texts)
		put_text(
		    adding, INDEX_TEXT_ENDS, INDEX_TEXTS, row->text, row->text_length);
	if (adding->ranges)
		code_ranges_add(adding->ranges, vector);
	adding->count++;
	return true;
}

/* Cells. ----------------------------------------------------------------------------- */

#define RAW "raw.f32"

static void
open_raw(struct index_addition *adding)
{
	char *path = index_addition_path(adding, RAW);

	temporary_add(path);
	adding->raw = hashed_file_open(path, 0);
	free(path);
}

static const float *
close_raw(struct index_addition *adding)
{
	char hash[HASH_ROOM];

	hashed_file_end(adding->raw, hash);
	return index_addition_view(adding, RAW, &adding->raw_view);
}

static void
remove_raw(struct index_addition *adding)
{
	char *path = index_addition_path(adding, RAW);

	file_view_close(&adding->raw_view);
	if (unlink(path))
		die("%s:", path);
	temporary_forget(path);
	free(path);
}

/* Trains the centroids of a new index. */
static void
make_centroids(struct index_addition *adding, const float *vectors, struct tree *about)
{
	struct vector_index *index = adding->index;
	size_t size = (size_t)index->cells * (size_t)index->width;
	float *centroids = mem_new(mem_multiply(size, sizeof *centroids, "centroids"), 1);

	if (adding->count < index->cells)
		die("%s: it has %lld rows, fewer than --cells %d",
		    rows_stream(adding->rows), (long long)adding->count, index->cells);
	cells_train(centroids, index->cells, vectors, adding->count, index->width);
	index->centroids = put_vectors(adding, about, INDEX_CENTROIDS, "centroids",
	    centroids, (size_t)index->cells, &index->centroids_view);
	free(centroids);
}

/* Puts the rows of each cell together, in their order: writes where cells end, and the row of each vector. */
static void
put_cells(struct index_addition *adding, const uint32_t *cell)
{
	const struct vector_index *index = adding->index;
	size_t count = (size_t)adding->count;
	uint64_t *ends = mem_zero((size_t)index->cells + 1, sizeof *ends);

	adding->order = mem_new(count, sizeof *adding->order);
	for (size_t i = 0; i < count; i++)
		ends[cell[i] + 1]++;
	for (int c = 0; c < index->cells; c++)
		ends[c + 1] += ends[c];
	for (size_t i = 0; i < count; i++) /* ends become those of the cells */
		adding->order[ends[cell[i]]++] = (uint32_t)i;
	open_file(adding, INDEX_PLACES);
	open_file(adding, INDEX_CELL_ENDS);
	hashed_file_write(
	    adding->files[INDEX_CELL_ENDS], ends, (size_t)index->cells * sizeof *ends);
	for (size_t i = 0; i < count; i++) {
		uint32_t row = (uint32_t)index->rows + adding->order[i];
		hashed_file_write(adding->files[INDEX_PLACES], &row, sizeof row);
	}
	close_file(adding, INDEX_PLACES);
	close_file(adding, INDEX_CELL_ENDS);
	free(ends);
}

static void
sort_vectors(struct index_addition *adding, const float *vectors, struct tree *about)
{
	const struct vector_index *index = adding->index;
	size_t width = (size_t)index->width;
	uint32_t *cell = mem_new((size_t)adding->count, sizeof *cell);

	if (!index->centroids)
		make_centroids(adding, vectors, about);
	cells_assign(
	    cell, vectors, adding->count, index->centroids, index->cells, index->width);
	put_cells(adding, cell);
	free(cell);
	for (int64_t i = 0; !index->codes_only && i < adding->count; i++)
		hashed_file_write(adding->files[INDEX_VECTORS],
		    vectors + adding->order[i] * width, width * sizeof *vectors);
}

/* Rows. ------------------------------------------------------------------------------ */

static void
add_rows(struct index_addition *adding, struct tree *about)
{
	static const enum vector_index_file direct[] = { INDEX_VECTORS, INDEX_ID_ENDS,
		INDEX_IDS, INDEX_TEXT_ENDS, INDEX_TEXTS };
	float *vector = mem_new((size_t)adding->index->width, sizeof *vector);
	struct index_columns *columns = index_columns_new(about, adding->folder);
	struct row row;

	adding->ends[INDEX_IDS] = adding->index->sizes[INDEX_IDS];
	adding->ends[INDEX_TEXTS] = adding->index->sizes[INDEX_TEXTS];
	for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
		open_file(adding, direct[i]);
	if (adding->index->cells || adding->index->codes_only)
		open_raw(adding);
	while (rows_next(adding->rows, &row)) {
		if (adding->index->rows + adding->count == UINT32_MAX - 1)
			die("%s: an index has at most %u rows", adding->index->name,
			    UINT32_MAX - 1);
		bool added = add_row(adding, &row, vector);
		index_columns_add(columns, adding->rows, added);
	}
	adding->kept = index_columns_end(columns);
	if (adding->raw && adding->count) {
		const float *vectors = close_raw(adding);
		if (adding->index->cells)
			sort_vectors(adding, vectors, about);
	}
	for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
		close_file(adding, direct[i]);
	free(vector);
}

/* Makes the columns of a new index from the ranges of all its rows. */
static void
write_columns(struct index_addition *adding, struct tree *about)
{
	struct vector_index *index = adding->index;
	float *columns = mem_new(4 * (size_t)index->width, sizeof *columns);

	code_ranges_end(adding->ranges, columns);
	index->columns = code_columns(put_vectors(adding, about, INDEX_COLUMNS, "columns",
					  columns, 4, &index->columns_view),
	    index->width);
	free(columns);
}

/* Writes codes, bits and errors of the vectors [count, width] in this order; NULL: in their own. */
static void
put_codes(struct index_addition *adding, const float *vectors, const uint32_t *order)
{
	const struct vector_index *index = adding->index;
	size_t stride = codes_stride(index->width), words = codes_words(index->width);
	uint8_t *codes = mem_new(stride, sizeof *codes);
	uint64_t *bits = mem_new(words, sizeof *bits);

	for (int64_t i = 0; i < adding->count; i++) {
		float error = codes_encode(codes, bits,
		    vectors + (order ? order[i] : i) * index->width, &index->columns,
		    index->width);
		hashed_file_write(adding->files[INDEX_CODES], codes, stride);
		hashed_file_write(adding->files[INDEX_BITS], bits, words * sizeof *bits);
		hashed_file_write(adding->files[INDEX_ERRORS], &error, sizeof error);
		if (index->codes_only && isfinite(error))
			adding->worst = fmax(adding->worst, (double)error);
	}
	free(codes);
	free(bits);
}

/* Links the vectors [count, width], whose codes are written. */
static void
put_links(struct index_addition *adding, const float *vectors)
{
	const struct vector_index *index = adding->index;
	struct file_view codes, errors;
	size_t size = (size_t)adding->count * (size_t)index->degree;
	uint32_t *links = mem_new(size, sizeof *links);
	const uint8_t *first =
	    index_addition_view(adding, vector_index_names[INDEX_CODES], &codes);
	const float *error =
	    index_addition_view(adding, vector_index_names[INDEX_ERRORS], &errors);
	struct graph graph = { .codes = first +
					(size_t)index->rows * codes_stride(index->width),
		.errors = error + index->rows,
		.rows = adding->count,
		.width = index->width,
		.code_sums = code_sums_best() };

	graph_build(
	    links, index->degree, &graph, vectors, &index->columns, adding->longest);
	open_file(adding, INDEX_LINKS);
	hashed_file_write(adding->files[INDEX_LINKS], links, size * sizeof *links);
	close_file(adding, INDEX_LINKS);
	file_view_close(&codes);
	file_view_close(&errors);
	free(links);
}

/* Encodes the new rows, whose vectors are in a file. */
static void
encode(struct index_addition *adding)
{
	const struct vector_index *index = adding->index;
	struct file_view view = adding->raw_view;
	const float *vectors = (const float *)(const void *)view.text;

	if (!index->codes_only)
		vectors = (const float *)index_addition_view(
			      adding, vector_index_names[INDEX_VECTORS], &view) +
			  index->rows * index->width;
	open_file(adding, INDEX_CODES);
	open_file(adding, INDEX_BITS);
	open_file(adding, INDEX_ERRORS);
	put_codes(adding, vectors, index->codes_only ? adding->order : NULL);
	close_file(adding, INDEX_CODES);
	close_file(adding, INDEX_BITS);
	close_file(adding, INDEX_ERRORS);
	if (index->degree)
		put_links(adding, vectors);
	if (!index->codes_only)
		file_view_close(&view);
	if (adding->raw)
		remove_raw(adding);
	adding->longest += adding->worst; /* decoded vectors may be longer */
	free(adding->order);
}

static void
describe_part(struct index_addition *adding, struct tree *about)
{
	const struct vector_index *index = adding->index;
	struct tree *part = tree_add(tree_get(about, "parts"), tree_object());

	tree_set(part, "rows", tree_of_integer(adding->count));
	tree_set(part, "ids",
	    tree_of_integer(
		(int64_t)(adding->ends[INDEX_IDS] - index->sizes[INDEX_IDS])));
	tree_set(part, "texts",
	    tree_of_integer(
		(int64_t)(adding->ends[INDEX_TEXTS] - index->sizes[INDEX_TEXTS])));
	tree_set(part, "hashes", adding->hashes);
	if (tree_get(about, "keeps"))
		tree_set(part, "kept", adding->kept);
	else
		tree_free(adding->kept);
	tree_set(part, "command", tree_of_string(cli_command()));
	tree_set(about, "longest", tree_of_real(fmax(adding->longest, index->longest)));
}

/* Ends files to which no row was added: their bytes behind those of index.json do not count. */
static void
drop_rows(struct index_addition *adding)
{
	char hash[HASH_ROOM];

	if (adding->raw) {
		hashed_file_end(adding->raw, hash);
		remove_raw(adding);
	}
	tree_free(adding->hashes);
	tree_free(adding->kept);
}

void
index_addition_put(struct index_addition *adding, struct tree *about)
{
	adding->hashes = tree_object();
	add_rows(adding, about);
	if (!adding->count && !adding->index->rows)
		die("%s: there is no row in it", rows_stream(adding->rows));
	if (adding->ranges)
		write_columns(adding, about);
	if (adding->count) {
		encode(adding);
		describe_part(adding, about);
	} else {
		drop_rows(adding);
	}
}
