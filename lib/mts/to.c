#include "mts/mts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/spool.h"
#include "base/utf8.h"
#include "folder/safetensors.h"
#include "mts/npy.h"
#include "stream/print.h"
#include "stream/stream_format.h"

/* Indices of the named columns, or of all; the caller frees them. */
static int *
choose(const struct reader *reader, const char *const *names, int *count)
{
	int all = stream_columns(reader), wanted = *count ? *count : all;
	int *chosen = mem_new((size_t)wanted, sizeof *chosen);

	for (int i = 0; i < wanted; i++) {
		chosen[i] = *count ? stream_find(reader, names[i]) : i;
		if (chosen[i] < 0)
			stream_lacks(reader, names[i]);
		for (int j = 0; j < i; j++)
			if (chosen[j] == chosen[i])
				die_usage("to: -c names '%s' twice", names[i]);
	}
	*count = wanted;
	return chosen;
}

/* NumPy. --------------------------------------------------------------------------- */

static int
choose_array(const struct reader *reader, const char *const *names, int count)
{
	int found = -1;

	if (count > 1)
		die_usage("a .npy file holds one column");
	if (count == 1) {
		int *chosen = choose(reader, names, &count);
		found = *chosen;
		free(chosen);
	} else {
		for (int i = 0; i < stream_columns(reader); i++)
			if (stream_columns(reader) == 1 ||
			    stream_column(reader, i)->rank) {
				if (found >= 0)
					die_usage(
					    "%s: there are several columns; choose one with -c",
					    stream_name(reader));
				found = i;
			}
		if (found < 0)
			die_usage("%s: there is no column of vectors; choose one with -c",
			    stream_name(reader));
	}
	if (stream_column(reader, found)->depth) {
		char *text = column_text(stream_column(reader, found));
		die("%s: column %s: lists do not fit into a .npy file; use safetensors",
		    stream_name(reader), text);
	}
	return found;
}

static void
to_npy(struct reader *reader, const char *const *names, int count, const char *path)
{
	int index = choose_array(reader, names, count);
	const struct column *column = stream_column(reader, index);
	size_t element = column_element_size(column),
	       numbers = element / dtype_size(column->dtype);
	struct npy npy = { .dtype = column->dtype, .rank = column->rank + 1 };
	struct spool spool = { 0 };
	struct record record;
	float *wide = NULL;
	size_t capacity = 0;

	memcpy(npy.shape + 1, column->shape, (size_t)column->rank * sizeof *npy.shape);
	if (column->dtype == DTYPE_BF16)
		npy.dtype = DTYPE_F32;
	while (stream_next(reader, &record)) {
		const void *data = record.columns[index].data;
		size_t rows = (size_t)record.rows;
		npy.shape[0] += record.rows;
		if (column->dtype != DTYPE_BF16) {
			spool_write(&spool, data, rows * element);
			continue;
		}
		wide = mem_grow(wide, &capacity, rows * numbers, sizeof *wide);
		tensor_to_f32(wide, data, DTYPE_BF16, rows * numbers);
		spool_write(&spool, wide, rows * numbers * sizeof *wide);
	}
	struct output *output = output_open(path, true);
	npy_write(output, &npy);
	output_write(output, spool_map(&spool), spool.bytes);
	output_finish(output);
	spool_free(&spool);
	free(wide);
}

/* safetensors. --------------------------------------------------------------------- */

/* A column's three arrays over all records, and the offsets at which the next record starts. */
struct column_spool {
	struct spool arrays[STREAM_DEPTH + 1];
	int64_t bases[STREAM_DEPTH];
	int64_t elements;
};

/* Appends the offsets of one record, shifted by *base. */
static void
spool_offsets(struct spool *spool, const int64_t *offsets, int64_t lists, int64_t *base)
{
	if (!spool->bytes)
		spool_write(spool, base, sizeof *base);
	for (int64_t i = 1; i <= lists; i++)
		spool_write(spool, &(int64_t){ *base + offsets[i] }, sizeof *offsets);
	*base += offsets[lists];
}

static void
spool_column(struct column_spool *spool, const struct column *column,
    const struct array *array, int64_t rows)
{
	static const int64_t none = 0;
	int64_t lists = rows, elements = rows;

	for (int d = 0; d < column->depth; d++) {
		const int64_t *offsets = array ? array->offsets[d] : &none;
		spool_offsets(&spool->arrays[d], offsets, lists, &spool->bases[d]);
		lists = elements = offsets[lists];
	}
	if (array)
		spool_write(&spool->arrays[STREAM_DEPTH], array->data,
		    (size_t)elements * column_element_size(column));
	spool->elements += elements;
}

static int
describe(
    struct column_spool *spool, const struct column *column, struct safetensor *tensors)
{
	static const char *const suffixes[STREAM_DEPTH] = { "offsets", "lists" };
	size_t numbers = column_element_size(column) / dtype_size(column->dtype);

	tensors[0] = (struct safetensor){ .name = mem_string(column->name),
		.dtype = column->dtype,
		.rank = column->rank + 1,
		.shape = { spool->elements },
		.count = (size_t)spool->elements * numbers,
		.data = spool_map(&spool->arrays[STREAM_DEPTH]) };
	memcpy(tensors[0].shape + 1, column->shape,
	    (size_t)column->rank * sizeof *column->shape);
	for (int d = 0; d < column->depth; d++) {
		size_t count = spool->arrays[d].bytes / sizeof(int64_t);
		tensors[d + 1] = (struct safetensor){ .name = mem_format("%s.%s",
							  column->name, suffixes[d]),
			.dtype = DTYPE_I64,
			.rank = 1,
			.shape = { (int64_t)count },
			.count = count,
			.data = spool_map(&spool->arrays[d]) };
	}
	return 1 + column->depth;
}

static void
to_safetensors(
    struct reader *reader, const char *const *names, int count, const char *path)
{
	int *chosen = choose(reader, names, &count), made = 0;
	struct column_spool *spools = mem_zero((size_t)count, sizeof *spools);
	struct safetensor *tensors =
	    mem_new((size_t)count * (STREAM_DEPTH + 1), sizeof *tensors);
	struct record record;

	for (int i = 0; i < count; i++) /* so that an empty stream has a first offset */
		spool_column(&spools[i], stream_column(reader, chosen[i]), NULL, 0);
	while (stream_next(reader, &record))
		for (int i = 0; i < count; i++)
			spool_column(&spools[i], stream_column(reader, chosen[i]),
			    &record.columns[chosen[i]], record.rows);
	for (int i = 0; i < count; i++)
		made += describe(
		    &spools[i], stream_column(reader, chosen[i]), tensors + made);
	safetensors_write(path, tensors, made, NULL, NULL);
	for (int i = 0; i < made; i++)
		free((char *)tensors[i].name);
	for (int i = 0; i < count; i++)
		for (int d = 0; d <= STREAM_DEPTH; d++)
			spool_free(&spools[i].arrays[d]);
	free(tensors);
	free(spools);
	free(chosen);
}

/* Lines of text. ------------------------------------------------------------------- */

/* Adds the text in quotes, with inner quotes doubled. */
static void
add_quoted(struct buffer *line, const char *text, size_t length)
{
	buffer_add(line, "\"", 1);
	for (const char *end = text + length, *quote; text < end; text = quote) {
		const char *found = memchr(text, '"', (size_t)(end - text));
		quote = found ? found + 1 : end;
		buffer_add(line, text, (size_t)(quote - text));
		buffer_add(line, "\"", found != NULL);
	}
	buffer_add(line, "\"", 1);
}

/* The layout of TSV or CSV. */
struct cells {
	char separator;
	bool spread; /* a column for each number of a vector */
	bool alone;  /* a single column: its empty value must not give a blank line */
};

/* CSV: quotes a text with commas, quotes or line ends.  TSV: replaces tabs and line ends by blanks, and quotes a text
 * that begins with a quote, because some readers would remove that.  Both: a zero byte becomes a blank, because no reader
 * of tables takes one. */
static void
add_text(struct buffer *line, const struct cells *cells, const char *bytes, size_t length)
{
	char *text = mem_new(mem_multiply(length, 3, "text") + 1, 1);
	bool quoted;

	length = utf8_repair(text, bytes, length, &(int64_t){ 0 });
	text[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!text[i] || (cells->separator == '\t' && strchr("\t\n\r", text[i])))
			text[i] = ' ';
	if (cells->separator == '\t')
		quoted = *text == '"';
	else
		quoted = strcspn(text, ",\"\n\r") < length || (cells->alone && !length);
	if (quoted)
		add_quoted(line, text, length);
	else
		buffer_add(line, text, length);
	free(text);
}

static void
add_number(struct buffer *line, const struct column *column, const struct array *array,
    int64_t index)
{
	if (!isnan(tensor_number(array->data, column->dtype, index)))
		print_number(line, column->dtype, array->data, index);
}

/* The number of numbers of an element. */
static int64_t
width(const struct column *column)
{
	return (int64_t)(column_element_size(column) / dtype_size(column->dtype));
}

static bool
is_spread(const struct column *column)
{
	return !column->depth && column->rank;
}

/* Dies if there are lists of numbers to spread, which differ in length, and nothing else. */
static void
need_spread(const struct reader *reader, const int *chosen, int count)
{
	const struct column *lists = NULL;

	for (int i = 0; i < count; i++) {
		const struct column *column = stream_column(reader, chosen[i]);
		if (is_spread(column))
			return;
		if (column->depth && !column->text)
			lists = column;
	}
	if (lists)
		die("%s: column '%s' has lists, which may differ in length; --spread is for vectors of one width",
		    stream_name(reader), lists->name);
}

static void
add_cell(struct buffer *line, const struct cells *cells, const struct column *column,
    const struct array *array, int64_t row)
{
	int64_t numbers = width(column);

	if (column->text && column->depth == 1) {
		const int64_t *offsets = array->offsets[0] + row;
		add_text(line, cells, (const char *)array->data + offsets[0],
		    (size_t)(offsets[1] - offsets[0]));
	} else if (column->depth || (is_spread(column) && !cells->spread)) {
		struct buffer json = { 0 };
		print_row(&json, column, array, row);
		add_text(line, cells, json.data, json.used);
		free(json.data);
	} else {
		for (int64_t i = 0; i < numbers; i++) {
			buffer_add(line, &cells->separator, i > 0);
			add_number(line, column, array, row * numbers + i);
		}
	}
}

/* The name of a column, or the names of its numbers: "emb_0", "emb_1", ... */
static void
add_name(struct buffer *line, const struct cells *cells, const struct column *column)
{
	if (!cells->spread || !is_spread(column)) {
		add_text(line, cells, column->name, strlen(column->name));
		return;
	}
	for (int64_t i = 0; i < width(column); i++) {
		char *name = mem_format("%s_%lld", column->name, (long long)i);
		buffer_add(line, &cells->separator, i > 0);
		add_text(line, cells, name, strlen(name));
		free(name);
	}
}

/* A line of TSV or CSV; row -1: the header. */
static void
table_line(struct buffer *line, const struct cells *cells, const struct reader *reader,
    const int *chosen, int count, const struct array *arrays, int64_t row)
{
	for (int i = 0; i < count; i++) {
		const struct column *column = stream_column(reader, chosen[i]);
		buffer_add(line, &cells->separator, i > 0);
		if (row < 0)
			add_name(line, cells, column);
		else
			add_cell(line, cells, column, &arrays[chosen[i]], row);
	}
	print_text(line, "\n");
}

/* cells NULL: lines of JSON. */
static void
write_lines(struct reader *reader, const int *chosen, int count, struct output *output,
    const struct cells *cells)
{
	struct buffer line = { 0 };
	struct record record;

	while (stream_next(reader, &record)) {
		for (int64_t row = 0; row < record.rows; row++) {
			line.used = 0;
			if (cells) {
				table_line(&line, cells, reader, chosen, count,
				    record.columns, row);
			} else {
				print_object(
				    &line, reader, chosen, count, record.columns, row);
				print_text(&line, "\n");
			}
			output_write(output, line.data, line.used);
		}
		output_flush(output); /* readers get each record at once */
	}
	free(line.data);
	output_finish(output);
}

static void
to_jsonl(struct reader *reader, const char *const *names, int count, const char *path)
{
	int *chosen = choose(reader, names, &count);

	write_lines(reader, chosen, count, output_open(path, false), NULL);
	free(chosen);
}

static void
to_table(struct reader *reader, const char *const *names, int count, const char *path,
    char separator, bool spread)
{
	int *chosen = choose(reader, names, &count);
	struct output *output = output_open(path, false);
	struct cells cells = { separator, spread, count == 1 };
	struct buffer line = { 0 };

	if (spread)
		need_spread(reader, chosen, count);
	table_line(&line, &cells, reader, chosen, count, NULL, -1);
	output_write(output, line.data, line.used);
	free(line.data);
	write_lines(reader, chosen, count, output, &cells);
	free(chosen);
}

/* All. ----------------------------------------------------------------------------- */

enum to_format
to_parse(const char *word, bool spread)
{
	static const char *const formats[] = { "npy", "safetensors", "jsonl", "tsv",
		"csv", NULL };

	enum to_format format = (enum to_format)cli_word("to", word, formats);

	if (spread && format != TO_TSV && format != TO_CSV)
		die_usage("to: --spread does not apply to %s", word);
	return format;
}

void
to_file(struct reader *reader, enum to_format format, const struct name_list *kept,
    bool spread, const char *path)
{
	const char *const *names = kept->items;
	int count = kept->count;

	switch (format) {
	case TO_NPY: to_npy(reader, names, count, path); break;
	case TO_SAFETENSORS: to_safetensors(reader, names, count, path); break;
	case TO_JSONL: to_jsonl(reader, names, count, path); break;
	case TO_TSV: to_table(reader, names, count, path, '\t', spread); break;
	case TO_CSV: to_table(reader, names, count, path, ',', spread); break;
	}
}
