#include "mts/mts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "folder/safetensors.h"
#include "mts/npy.h"
#include "stream/cursor.h"
#include "stream/stream_format.h"
#include "stream/table.h"
#include "text/foreign.h"

enum { RECORD_BYTES = 64 << 20 }; /* wide rows make smaller records */

static int64_t
rows_that_fit(int64_t rows, size_t element)
{
	int64_t most = RECORD_BYTES / (int64_t)element;

	return rows < most ? rows : most ? most : 1;
}

/* Rows of column `name` are the entries of the first dimension. */
static void
from_npy(const char *path, const char *name, int64_t rows, struct writer *writer)
{
	struct input *input = input_open(path);
	struct npy npy = npy_read(input);
	struct column column = { .name = name, .dtype = npy.dtype, .rank = npy.rank - 1 };

	if (npy.rank < 1 || npy.rank > STREAM_RANK + 1)
		die("%s: %d dimensions; rows of 0 to %d are taken", path, npy.rank,
		    STREAM_RANK);
	for (int i = 1; i < npy.rank; i++)
		column.shape[i - 1] = npy.shape[i];
	int index = stream_add(writer, &column);
	size_t element = column_element_size(&column);
	int64_t most = rows_that_fit(rows, element), left = npy.shape[0];
	struct progress *progress = progress_new("rows", left);
	char *data = NULL;
	size_t capacity = 0;
	while (left) {
		size_t count = (size_t)(left < most ? left : most);
		data = mem_grow(data, &capacity, count, element);
		npy_rows(input, &npy, data, (int64_t)count);
		struct record *made = stream_make(writer, NULL);
		made->rows = (int64_t)count;
		made->columns[index].data = data;
		stream_put(writer, made);
		left -= (int64_t)count;
		progress_add(progress, (int64_t)count);
	}
	progress_free(progress);
	if (input_read(input, &(char){ 0 }, 1))
		die("%s: bytes follow the array", path);
	npy_free(&npy);
	free(data);
	input_close(input);
}

/* safetensors. --------------------------------------------------------------------- */

/* A tensor of the file, with its offsets, as a column. */
struct tensor_column {
	struct column column;
	struct array array;
	int index; /* in made records */
	int64_t rows;
	struct row_slice slice;
};

/* The offsets in tensor NAME.SUFFIX, copied for alignment; NULL if absent. */
static int64_t *
find_offsets(
    const struct safetensors *file, const char *name, const char *suffix, size_t *count)
{
	char *called = mem_format("%s.%s", name, suffix);
	const struct safetensor *tensor = safetensors_find(file, called);
	int64_t *copy = NULL;

	if (tensor && tensor->dtype == DTYPE_I64 && tensor->rank == 1 && tensor->count) {
		*count = tensor->count;
		copy = mem_new(tensor->count, sizeof *copy);
		memcpy(copy, tensor->data, tensor->count * sizeof *copy);
	}
	free(called);
	return copy;
}

static bool
is_offsets(const struct safetensors *file, const char *name)
{
	const char *dot = strrchr(name, '.');

	if (!dot || (strcmp(dot, ".offsets") && strcmp(dot, ".lists")))
		return false;
	char *owner = mem_format("%.*s", (int)(dot - name), name);
	bool is = safetensors_find(file, owner);
	free(owner);
	return is;
}

static void
open_tensor(const struct safetensors *file, const struct safetensor *tensor,
    struct tensor_column *source)
{
	const char *path = safetensors_name(file), *fault;
	size_t count[STREAM_DEPTH] = { 0 };
	struct counts counts = { 0 };
	struct column *column = &source->column;

	if (tensor->rank < 1 || tensor->rank > STREAM_RANK + 1)
		die("%s: tensor '%s': %d dimensions; rows of 0 to %d are taken", path,
		    tensor->name, tensor->rank, STREAM_RANK);
	*source = (struct tensor_column){ .column = { .name = tensor->name,
					      .dtype = tensor->dtype,
					      .rank = tensor->rank - 1 } };
	memcpy(column->shape, tensor->shape + 1,
	    (size_t)column->rank * sizeof *column->shape);
	source->array.data = tensor->data;
	source->array.offsets[0] = find_offsets(file, tensor->name, "offsets", &count[0]);
	source->array.offsets[1] = find_offsets(file, tensor->name, "lists", &count[1]);
	column->depth = !source->array.offsets[0] ? 0 : !source->array.offsets[1] ? 1 : 2;
	column->text = column->depth && column->dtype == DTYPE_U8 && !column->rank;
	counts.elements = (uint64_t)tensor->shape[0];
	counts.lists = column->depth == 2 ? count[1] - 1 : 0;
	source->rows = column->depth ? (int64_t)count[0] - 1 : tensor->shape[0];
	fault = column_fault(column);
	if (!fault)
		fault = stream_fault(column, &source->array, source->rows, counts);
	if (fault)
		die("%s: tensor '%s': %s", path, tensor->name, fault);
}

static struct tensor_column *
open_tensors(const struct safetensors *file, const char *const *names, int *count)
{
	int all = *count ? *count : safetensors_count(file), found = 0;
	struct tensor_column *sources = mem_new((size_t)all, sizeof *sources);

	for (int i = 0; i < all; i++) {
		const struct safetensor *tensor =
		    *count ? safetensors_find(file, names[i]) : safetensors_at(file, i);
		if (!tensor)
			die("%s: there is no tensor '%s'", safetensors_name(file),
			    names[i]);
		if (*count || !is_offsets(file, tensor->name))
			open_tensor(file, tensor, &sources[found++]);
	}
	for (int i = 1; i < found; i++)
		if (sources[i].rows != sources[0].rows)
			die("%s: tensors '%s' and '%s' have %lld and %lld rows; choose with -c",
			    safetensors_name(file), sources[0].column.name,
			    sources[i].column.name, (long long)sources[0].rows,
			    (long long)sources[i].rows);
	*count = found;
	return sources;
}

/* The reverse of TO_SAFETENSORS; u8 with offsets is text.  All tensors must have equally many rows.  names: the
 * tensors to read; count 0: all. */
static void
from_safetensors(const char *path, const char *const *names, int count, int64_t rows,
    struct writer *writer)
{
	struct safetensors *file = safetensors_open(path);
	struct tensor_column *sources = open_tensors(file, names, &count);
	int64_t total = count ? sources[0].rows : 0;
	size_t element = 1;

	for (int i = 0; i < count; i++) {
		sources[i].index = stream_add(writer, &sources[i].column);
		if (!sources[i].column.depth)
			element += column_element_size(&sources[i].column);
	}
	rows = rows_that_fit(rows, element);
	struct progress *progress = progress_new("rows", total);
	for (int64_t at = 0; at < total; at += rows) {
		struct record *made = stream_make(writer, NULL);
		made->rows = total - at < rows ? total - at : rows;
		for (int i = 0; i < count; i++)
			made->columns[sources[i].index] =
			    row_slice_take(&sources[i].slice, &sources[i].column,
				&sources[i].array, at, made->rows);
		stream_put(writer, made);
		progress_add(progress, made->rows);
	}
	progress_free(progress);
	for (int i = 0; i < count; i++) {
		row_slice_free(&sources[i].slice);
		for (int d = 0; d < STREAM_DEPTH; d++)
			free((void *)sources[i].array.offsets[d]);
	}
	free(sources);
	safetensors_close(file);
}

/* Lines of text. ------------------------------------------------------------------- */

/* Lists of numbers of a table that become vectors of the first row's width. */
struct list_column {
	bool is;
	size_t width, room;
	float *made; /* [rows, width] */
};

/* Marks the fields of `vectors`; returns the marks [table_columns]. */
static struct list_column *
mark_vectors(const struct table *table, const struct name_list *vectors)
{
	size_t count = (size_t)table_columns(table);
	struct list_column *marks = mem_zero(count + 1, sizeof *marks);
	const char *path = datafile_name(table_file(table));

	for (int v = 0; v < vectors->count; v++) {
		const char *name = vectors->items[v];
		size_t i = 0;
		while (i < count && strcmp(table_column(table, (int)i)->name, name) != 0)
			i++;
		if (i == count)
			die("%s: there is no field '%s' for --vectors", path, name);
		const struct column *column = table_column(table, (int)i);
		if (column->depth != 1 || column->text || column->dtype == DTYPE_BOOL)
			die("%s: --vectors: '%s' does not have a list of numbers in each row",
			    path, name);
		marks[i].is = true;
	}
	return marks;
}

/* A record's vectors; dies at a row with another width. */
static struct array
take_vectors(struct list_column *to, const struct table *table, int index,
    const struct record *record)
{
	const struct array *from = &record->columns[index];
	const int64_t *ends = from->offsets[0];
	bool whole = table_column(table, index)->dtype == DTYPE_I64;
	size_t count = (size_t)(ends[record->rows] - ends[0]);

	to->width = to->width ? to->width : (size_t)(ends[1] - ends[0]);
	for (int64_t row = 0; row < record->rows; row++)
		if (!to->width || (size_t)(ends[row + 1] - ends[row]) != to->width)
			die("%s:%lld: '%s' is a list of %lld, the first row's one of %zu: vectors of a column are equally long, and not empty",
			    datafile_name(table_file(table)),
			    (long long)table_line(table, row),
			    table_column(table, index)->name,
			    (long long)(ends[row + 1] - ends[row]), to->width);
	to->made = mem_grow(to->made, &to->room, count, sizeof *to->made);
	for (size_t i = 0; i < count; i++)
		to->made[i] = whole ? (float)((const int64_t *)from->data)[i]
				    : (float)((const double *)from->data)[i];
	return (struct array){ .data = to->made };
}

static struct column
column_of_vectors(const struct column *column, size_t width)
{
	return (struct column){ .name = column->name,
		.dtype = DTYPE_F32,
		.rank = 1,
		.shape = { (int64_t)width } };
}

/* Makes a record of the table's columns, which are the stream's, in the same order. */
static void
put_table(struct writer *writer, const struct table *table, const struct record *record,
    struct list_column *marks, bool first)
{
	struct array *arrays = mem_new((size_t)table_columns(table), sizeof *arrays);

	for (int i = 0; i < table_columns(table); i++) {
		const struct column *column = table_column(table, i);
		bool is = marks[i].is;
		arrays[i] =
		    is ? take_vectors(&marks[i], table, i, record) : record->columns[i];
		struct column as =
		    is ? column_of_vectors(column, marks[i].width) : *column;
		if (first && is && column_fault(&as))
			die("%s: '%s': %s", datafile_name(table_file(table)),
			    column->name, column_fault(&as));
		if (first)
			stream_add(writer, &as);
	}
	struct record *made = stream_make(writer, NULL);
	made->rows = record->rows;
	memcpy(
	    made->columns, arrays, (size_t)table_columns(table) * sizeof *made->columns);
	stream_put(writer, made);
	free(arrays);
}

/* The names of a list of lists. */
static struct name_list
names_of(const struct cli_list *lists)
{
	struct name_list names = { 0 };

	for (int i = 0; i < lists->count; i++)
		names_add_list(&names, lists->items[i]);
	return names;
}

/* By the rules of table.h.  Closes the file. */
static void
from_text(
    struct datafile *file, const struct from_options *options, struct writer *writer)
{
	struct name_list numbers = names_of(options->numbers),
			 vectors = names_of(options->vectors);
	struct table *table = table_open(file);
	struct list_column *marks = NULL;
	struct record record;

	for (int i = 0; i < numbers.count; i++)
		table_number(table, numbers.items[i]);
	struct progress *progress = progress_new("rows", 0);

	while (table_next(table, options->rows, RECORD_BYTES, &record)) {
		bool first = !marks;
		progress_span(progress, datafile_share(file), record.rows);
		marks = first ? mark_vectors(table, &vectors) : marks;
		put_table(writer, table, &record, marks, first);
		progress_add(progress, record.rows);
	}
	progress_free(progress);
	datafile_warn_repaired(file);
	for (int i = 0; marks && i < table_columns(table); i++)
		free(marks[i].made);
	free(marks);
	table_close(table);
	names_free(&numbers);
	names_free(&vectors);
}

enum from_format {
	FROM_NPY,
	FROM_SAFETENSORS,
	FROM_JSONL,
	FROM_TSV,
	FROM_CSV,
	FROM_INDEX
};

/* The format of that name. */
static enum from_format
find_format(const struct cli *cli, const char *word, const char *file)
{
	static const char *const formats[] = { "npy", "safetensors", "jsonl", "tsv",
		"csv", "index", NULL };
	static const char *const known[] = { "columns record-rows level output",
		"columns record-rows level output",
		"record-rows numbers vectors max-line level output",
		"record-rows numbers max-line level output",
		"record-rows numbers max-line level output", "record-rows level output" };
	char *foreign = foreign_named(word, file);

	if (foreign)
		die_usage("from: mts does not read %s", foreign);
	int format = cli_word("from", word, formats);
	char *mode = mem_format("from %s", word);
	cli_only(cli, mode, known[format]);
	free(mode);
	return (enum from_format)format;
}

void
from_file(const struct cli *cli, const char *word, const char *file,
    const struct from_options *options)
{
	static const enum datafile_format kinds[] = { [FROM_JSONL] = DATAFILE_JSONL,
		[FROM_TSV] = DATAFILE_TSV,
		[FROM_CSV] = DATAFILE_CSV };
	const struct name_list *kept = options->kept;
	enum from_format format = find_format(cli, word, file);

	if (format == FROM_NPY && kept->count > 1)
		die_usage(
		    "from npy: an array is one column; --columns names %d", kept->count);
	if (format == FROM_SAFETENSORS && !strcmp(file, "-"))
		die_usage("from: a safetensors file is mapped into memory: name it");
	if (format == FROM_INDEX && !vector_index_is(file))
		die("%s: there is no index; 'mts index' makes one", file);
	struct writer *writer = stream_create(options->output, NULL);
	stream_level(writer, options->level);
	if (format == FROM_NPY)
		from_npy(
		    file, kept->count ? kept->items[0] : "emb", options->rows, writer);
	else if (format == FROM_SAFETENSORS)
		from_safetensors(file, kept->items, kept->count, options->rows, writer);
	else if (format == FROM_INDEX)
		from_index(file, options->rows, writer);
	else {
		struct datafile *text = datafile_open(file, kinds[format]);
		datafile_max_line(text, options->max_line);
		from_text(text, options, writer);
	}
	stream_finish(writer);
}
