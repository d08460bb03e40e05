#include "mts/mts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/spool.h"
#include "base/utf8.h"
#include "folder/safetensors.h"
#include "mts/npy.h"
#include "mts/print.h"
#include "stream/stream_format.h"

/* Indices of the columns that are named, or of all. */
static int *
choose(const struct reader *reader, const char *const *names, int *count)
{
	int all = stream_columns(reader), wanted = *count ? *count : all;
	int *chosen = mem_new((size_t)wanted, sizeof *chosen);

	for (int i = 0; i < wanted; i++) {
		chosen[i] = *count ? stream_find(reader, names[i]) : i;
		if (chosen[i] < 0)
			stream_lacks(reader, names[i]);
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
					die_usage("%s: there are several columns; choose "
						  "one with -c",
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

void
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

/* A column's three arrays, and where their entries begin in the whole. */
struct column_spool {
	struct spool arrays[STREAM_DEPTH + 1];
	int64_t bases[STREAM_DEPTH];
	int64_t elements;
};

/* Offsets of one record after those of the records before it. */
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

void
to_safetensors(
    struct reader *reader, const char *const *names, int count, const char *path)
{
	int *chosen = choose(reader, names, &count), made = 0;
	struct column_spool *spools = mem_zero((size_t)count, sizeof *spools);
	struct safetensor *tensors =
	    mem_new((size_t)count * (STREAM_DEPTH + 1), sizeof *tensors);
	struct record record;

	for (int i = 0; i < count;
	     i++) /* so that an empty stream has its first offsets */
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

/* A text with blanks for tabs and line ends; in quotes, with those inside doubled, where it begins with one, which
 * readers of quotes would take away. */
static void
tsv_text(struct buffer *line, const char *text, size_t length)
{
	char *to = buffer_room(line, mem_multiply(length, 3, "text"));

	length = utf8_repair(to, text, length, &(int64_t){ 0 });
	for (size_t i = 0; i < length; i++)
		if (to[i] == '\t' || to[i] == '\n' || to[i] == '\r')
			to[i] = ' ';
	if (!length || *to != '"') {
		line->used += length;
		return;
	}
	char *quoted = mem_new(mem_multiply(length, 2, "text"), 1);
	size_t made = 0;
	for (size_t i = 0; i < length; i++) {
		if (to[i] == '"')
			quoted[made++] = '"';
		quoted[made++] = to[i];
	}
	buffer_add(line, "\"", 1);
	buffer_add(line, quoted, made);
	buffer_add(line, "\"", 1);
	free(quoted);
}

static void
tsv_cell(struct buffer *line, const struct column *column, const struct array *array,
    int64_t row)
{
	double real = 0;

	if (column->text && column->depth == 1) {
		const int64_t *offsets = array->offsets[0] + row;
		tsv_text(line, (const char *)array->data + offsets[0],
		    (size_t)(offsets[1] - offsets[0]));
		return;
	}
	if (column->depth || column->rank) {
		print_row(line, column, array, row);
		return;
	}
	if (dtype_is_float(column->dtype))
		tensor_to_f64(&real,
		    (const char *)array->data + (size_t)row * dtype_size(column->dtype),
		    column->dtype, 1);
	if (!isnan(real))
		print_number(line, column->dtype, array->data, row);
}

static void
jsonl_line(struct buffer *line, const struct reader *reader, const int *chosen, int count,
    const struct array *arrays, int64_t row)
{
	print_object(line, reader, chosen, count, arrays, row);
	print_text(line, "\n");
}

static void
tsv_line(struct buffer *line, const struct reader *reader, const int *chosen, int count,
    const struct array *arrays, int64_t row)
{
	for (int i = 0; i < count; i++) {
		buffer_add(line, "\t", i > 0);
		tsv_cell(line, stream_column(reader, chosen[i]), &arrays[chosen[i]], row);
	}
	print_text(line, "\n");
}

typedef void print_line(struct buffer *line, const struct reader *reader,
    const int *chosen, int count, const struct array *arrays, int64_t row);

static void
write_lines(struct reader *reader, const int *chosen, int count, struct output *output,
    print_line *print)
{
	struct buffer line = { 0 };
	struct record record;

	while (stream_next(reader, &record)) {
		for (int64_t row = 0; row < record.rows; row++) {
			line.used = 0;
			print(&line, reader, chosen, count, record.columns, row);
			output_write(output, line.data, line.used);
		}
		output_flush(output); /* its reader may wait for it */
	}
	free(line.data);
	output_finish(output);
}

void
to_jsonl(struct reader *reader, const char *const *names, int count, const char *path)
{
	int *chosen = choose(reader, names, &count);

	write_lines(reader, chosen, count, output_open(path, false), jsonl_line);
	free(chosen);
}

void
to_tsv(struct reader *reader, const char *const *names, int count, const char *path)
{
	int *chosen = choose(reader, names, &count);
	struct output *output = output_open(path, false);

	for (int i = 0; i < count; i++) {
		const char *name = stream_column(reader, chosen[i])->name;
		output_write(output, "\t", i > 0);
		output_write(output, name, strlen(name));
	}
	output_write(output, "\n", 1);
	write_lines(reader, chosen, count, output, tsv_line);
	free(chosen);
}
