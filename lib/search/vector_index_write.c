#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/temporary.h"
#include "folder/folder.h"
#include "search/cells.h"
#include "search/hashed_file.h"
#include "search/index_columns.h"
#include "search/vector_index.h"

/* An index that rows are being added to. */
struct addition {
	struct vector_index *index; /* before it; of a new one without rows and `about` */
	const char *folder; /* where the files are: temporary if the index is new */
	struct rows *rows;
	struct hashed_file *files[INDEX_FILES];
	struct hashed_file *raw; /* vectors in the order of rows, unless those are kept */
	struct file_view raw_view;
	uint32_t *order;       /* [count], vectors sorted by cell; NULL: not sorted */
	struct strings *ids;   /* all so far */
	int64_t count;	       /* of rows added */
	double longest, worst; /* greatest error of a code, if vectors are not kept */
	uint64_t ends[INDEX_FILES]; /* of INDEX_IDS and INDEX_TEXTS */
	struct code_ranges *ranges; /* of a new index */
	struct tree *hashes, *kept;
};

static char *
path_in(const struct addition *adding, const char *file)
{
	return mem_format("%s/%s", adding->folder, file);
}

/* Maps a file that is written; the caller closes the view. */
static const void *
view_file(const struct addition *adding, const char *file, struct file_view *view)
{
	char *path = path_in(adding, file);

	if (!file_view(path, view))
		die("%s:", path);
	free(path);
	return view->text;
}

/* Writes and maps vectors [rows, width] of a new index, and notes their checksum in index.json. */
static const float *
put_vectors(struct addition *adding, struct tree *about, const char *file,
    const char *key, const float *vectors, size_t rows, struct file_view *view)
{
	char *path = path_in(adding, file), hash[HASH_ROOM];
	struct hashed_file *made = hashed_file_open(path, 0);

	hashed_file_write(
	    made, vectors, rows * (size_t)adding->index->width * sizeof *vectors);
	hashed_file_end(made, hash);
	tree_set(about, key, tree_of_string(hash));
	free(path);
	return view_file(adding, file, view);
}

static void
open_file(struct addition *adding, enum vector_index_file file)
{
	char *path = path_in(adding, vector_index_names[file]);

	if (vector_index_has(adding->index, file))
		adding->files[file] = hashed_file_open(path, adding->index->sizes[file]);
	free(path);
}

static void
close_file(struct addition *adding, enum vector_index_file file)
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
put_text(struct addition *adding, enum vector_index_file ends,
    enum vector_index_file file, const char *text, size_t length)
{
	adding->ends[file] += length;
	hashed_file_write(adding->files[file], text, length);
	hashed_file_write(adding->files[ends], &adding->ends[file], sizeof(uint64_t));
}

/* Returns false if the row's id is not new. */
static bool
add_row(struct addition *adding, const struct row *row, float *vector)
{
	const struct vector_index *index = adding->index;
	bool fresh = true;

	if (index->ids != ROW_PLACES)
		strings_add(adding->ids, row->id, row->length, &fresh);
	if (!fresh) {
		rows_note(adding->rows, ROW_REPEATED, row);
		return false;
	}
	double length = rows_search_vector(adding->rows, index->similarity, vector, row);
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
open_raw(struct addition *adding)
{
	char *path = path_in(adding, RAW);

	temporary_add(path);
	adding->raw = hashed_file_open(path, 0);
	free(path);
}

static const float *
close_raw(struct addition *adding)
{
	char hash[HASH_ROOM];

	hashed_file_end(adding->raw, hash);
	return view_file(adding, RAW, &adding->raw_view);
}

static void
remove_raw(struct addition *adding)
{
	char *path = path_in(adding, RAW);

	file_view_close(&adding->raw_view);
	if (unlink(path))
		die("%s:", path);
	temporary_forget(path);
	free(path);
}

/* Trains the centroids of a new index. */
static void
make_centroids(struct addition *adding, const float *vectors, struct tree *about)
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
put_cells(struct addition *adding, const uint32_t *cell)
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
sort_vectors(struct addition *adding, const float *vectors, struct tree *about)
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
add_rows(struct addition *adding, struct tree *about)
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
write_columns(struct addition *adding, struct tree *about)
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
put_codes(struct addition *adding, const float *vectors, const uint32_t *order)
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
put_links(struct addition *adding, const float *vectors)
{
	const struct vector_index *index = adding->index;
	struct file_view codes, errors;
	size_t size = (size_t)adding->count * (size_t)index->degree;
	uint32_t *links = mem_new(size, sizeof *links);
	const uint8_t *first = view_file(adding, vector_index_names[INDEX_CODES], &codes);
	const float *error = view_file(adding, vector_index_names[INDEX_ERRORS], &errors);
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
encode(struct addition *adding)
{
	const struct vector_index *index = adding->index;
	struct file_view view = adding->raw_view;
	const float *vectors = (const float *)(const void *)view.text;

	if (!index->codes_only)
		vectors = (const float *)view_file(
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
write_about(struct addition *adding, struct tree *about)
{
	const struct vector_index *index = adding->index;
	struct tree *part = tree_add(tree_get(about, "parts"), tree_object());
	char hash[HASH_ROOM];

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
	tree_remove(about, "checksum");
	char *text = vector_index_seal(about);
	hash_bytes(hash, text, strlen(text));
	free(text);
	tree_set(about, "checksum", tree_of_string(hash));
	folder_write_json(adding->folder, INDEX_ABOUT, about);
}

/* Rows, columns and codes; then index.json. */
/* Leaves the index as it is, since no row is new: the files' bytes behind those of index.json do not count. */
static void
leave(struct addition *adding)
{
	char hash[HASH_ROOM];

	if (adding->raw) {
		hashed_file_end(adding->raw, hash);
		remove_raw(adding);
	}
	warn("%s: there is no new row in it; the index stays as it is",
	    rows_stream(adding->rows));
}

static void
add(struct addition *adding, struct tree *about)
{
	adding->hashes = tree_object();
	adding->ids = strings_new();
	for (int64_t i = 0; i < adding->index->rows && adding->index->ids != ROW_PLACES;
	     i++) {
		size_t length;
		const char *id = vector_index_id(adding->index, i, &length);
		strings_add(adding->ids, id, length, NULL);
	}
	add_rows(adding, about);
	if (!adding->count && !adding->index->rows)
		die("%s: there is no row in it", rows_stream(adding->rows));
	if (adding->ranges)
		write_columns(adding, about);
	if (adding->count) {
		encode(adding);
		write_about(adding, about);
	} else {
		leave(adding);
	}
	strings_free(adding->ids);
	rows_close(adding->rows);
}

static struct rows *
open_rows(const struct vector_index_options *options)
{
	return rows_open(options->streams, options->count, "rows", options->field, NULL,
	    false, NULL, false, options->similarity);
}

static struct tree *
describe(const struct addition *adding, const struct vector_index_options *options)
{
	const struct vector_index *index = adding->index;
	const struct vectors *vectors = rows_vectors(adding->rows);
	struct tree *about = tree_object(), *stream = stream_about(vectors->reader);
	char *field = rows_field(adding->rows);

	tree_set(about, "format", tree_of_string(INDEX_FORMAT));
	tree_set(
	    about, "version", tree_of_integer(index->cells || index->codes_only ? 2 : 1));
	tree_set(about, "width", tree_of_integer(index->width));
	tree_set(about, "similarity", tree_of_string(similarity_name(index->similarity)));
	tree_set(about, "ids", tree_of_string(vector_index_ids[index->ids]));
	tree_set(about, "texts", tree_of_boolean(index->texts));
	tree_set(about, "field", tree_of_string(field));
	tree_set(about, "column",
	    tree_of_string(stream_column(vectors->reader, vectors->column)->name));
	tree_set(about, "kind", tree_of_string(vectors_kind(vectors)));
	tree_set(about, "properties", tree_copy(tree_get(stream, "properties")));
	tree_set(about, "history", tree_copy(tree_get(stream, "history")));
	if (index->codes_only)
		tree_set(about, "codes_only", tree_of_boolean(true));
	if (index->cells)
		tree_set(about, "cells", tree_of_integer(index->cells));
	if (index->degree)
		tree_set(about, "graph", tree_of_integer(index->degree));
	if (options->kept_count) {
		struct tree *keeps = tree_list();
		for (int i = 0; i < options->kept_count; i++)
			tree_add(keeps, tree_of_string(options->kept[i]));
		tree_set(about, "keeps", keeps);
	}
	tree_set(about, "parts", tree_list());
	tree_free(stream);
	free(field);
	return about;
}

/* Dies unless the folder can be made: it must not exist, or be empty. */
static void
check_free(const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	struct stat status;

	if (!list && lstat(folder, &status))
		return;
	while (list && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			die("%s: exists%s; choose another name, or remove it first",
			    folder,
			    vector_index_is(folder) ? " (--append adds rows to it)" : "");
	if (!list)
		die("%s: exists and is not a folder that can be read; choose another name",
		    folder);
	closedir(list);
}

void
vector_index_make(const char *folder, const struct vector_index_options *options)
{
	struct vector_index index = { .name = (char *)folder };
	struct addition adding = { .index = &index };

	if (options->cells && options->degree)
		die_usage("index: --cells and --graph exclude each other");
	struct lock *lock = lock_take(folder);
	check_free(folder);
	adding.rows = open_rows(options);
	index.similarity = rows_similarity(adding.rows, options->similarity);
	if (index.similarity != SIMILARITY_COSINE && index.similarity != SIMILARITY_DOT)
		die("%s: its model compares by %s, and a search knows cosine and dot: say --similarity",
		    rows_stream(adding.rows), similarity_name(index.similarity));
	index.width = rows_vectors(adding.rows)->width;
	index.ids = rows_ids(adding.rows);
	index.texts = rows_have_texts(adding.rows);
	index.cells = options->cells;
	index.degree = options->degree;
	index.codes_only = options->codes_only;
	struct tree *about = describe(&adding, options);
	char *temporary = folder_begin(folder);
	adding.folder = temporary;
	adding.ranges = code_ranges_new(index.width);
	add(&adding, about);
	file_view_close(&index.columns_view);
	file_view_close(&index.centroids_view);
	tree_free(about);
	folder_commit(temporary, folder);
	lock_end(lock);
}

void
vector_index_append(const char *folder, const struct vector_index_options *options)
{
	if (!vector_index_is(folder))
		die("%s: there is no index; without --append one is made", folder);
	char *real = realpath(folder, NULL); /* one lock for all of its names */
	struct lock *lock = lock_take(real ? real : folder);
	struct vector_index *index = vector_index_open(folder);
	struct addition adding = { .index = index, .folder = folder };
	struct vectors_origin origin = vector_index_origin(index);

	adding.rows = open_rows(options);
	rows_agree_with(adding.rows, &origin);
	if (rows_ids(adding.rows) != index->ids)
		die("%s: its rows have %s, those of %s %s: they are not one corpus",
		    rows_stream(adding.rows),
		    rows_ids(adding.rows) == ROW_PLACES ? "no ids"
							: "ids of another kind",
		    folder, index->ids == ROW_PLACES ? "none" : "ids");
	if (rows_have_texts(adding.rows) != index->texts)
		die("%s: its rows have %s, those of %s %s: make both alike",
		    rows_stream(adding.rows), index->texts ? "no texts" : "texts", folder,
		    index->texts ? "have" : "none");
	enum similarity similarity = rows_similarity(adding.rows, options->similarity);
	if (similarity != index->similarity)
		die("%s: its vectors are compared by %s, those of %s by %s; say --similarity %s",
		    rows_stream(adding.rows), similarity_name(similarity), folder,
		    similarity_name(index->similarity),
		    similarity_name(index->similarity));
	struct tree *about = tree_copy(index->about);
	add(&adding, about);
	tree_free(about);
	vector_index_close(index);
	lock_end(lock);
	free(real);
}
