#include "mts/mts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status_line.h"
#include "mts/grid.h"
#include "stream/print.h"
#include "mts/tally.h"
#include "stream/stream_format.h"
#include "text/json.h"

enum { CHUNK = 1024 };

struct figures {
	int64_t values, nans, infinities, vectors, lists, empty;
	int64_t shortest, longest, length; /* of lists; length: sum */
	int64_t bytes;			   /* of the column, uncompressed */
	double least, most, sum, norms;
	int64_t least_integer, most_integer; /* of i64, exactly */
};

struct stat {
	int columns;
	int64_t records, rows;
	struct figures *figures; /* [columns] */
	struct tally *tally;
};

static void
add_numbers(struct figures *figures, const double *values, int64_t count, double *square)
{
	for (int64_t i = 0; i < count; i++) {
		double value = values[i];
		*square += value * value;
		if (isnan(value) || isinf(value)) {
			figures->nans += isnan(value);
			figures->infinities += !isnan(value);
			continue;
		}
		figures->sum += value;
		figures->least = fmin(figures->least, value);
		figures->most = fmax(figures->most, value);
	}
	figures->values += count;
}

static void
add_integers(struct figures *figures, const char *data, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		int64_t value;
		memcpy(&value, data + i * (int64_t)sizeof value, sizeof value);
		if (value < figures->least_integer)
			figures->least_integer = value;
		if (value > figures->most_integer)
			figures->most_integer = value;
	}
}

static void
add_elements(struct figures *figures, const struct column *column, const char *data,
    int64_t elements)
{
	size_t size = dtype_size(column->dtype);
	int64_t width = (int64_t)(column_element_size(column) / size);
	double values[CHUNK];

	if (column->dtype == DTYPE_I64)
		add_integers(figures, data, elements * width);
	for (int64_t e = 0; e < elements; e++) {
		double square = 0;
		for (int64_t at = 0; at < width; at += CHUNK) {
			int64_t count = width - at < CHUNK ? width - at : CHUNK;
			tensor_to_f64(values, data, column->dtype, (size_t)count);
			add_numbers(figures, values, count, &square);
			data += (size_t)count * size;
		}
		figures->norms += sqrt(square);
		figures->vectors++;
	}
}

static void
add_lists(struct figures *figures, const int64_t *offsets, int64_t lists)
{
	for (int64_t i = 0; i < lists; i++) {
		int64_t length = offsets[i + 1] - offsets[i];
		if (!figures->lists || length < figures->shortest)
			figures->shortest = length;
		if (length > figures->longest)
			figures->longest = length;
		figures->length += length;
		figures->empty += length == 0;
		figures->lists++;
	}
}

static int64_t
bytes_of(const struct column *column, const struct array *array, int64_t rows)
{
	int64_t lists = column_lists(column, array, rows);
	int64_t offsets = column->depth == 0   ? 0
			  : column->depth == 1 ? rows + 1
					       : rows + 1 + lists + 1;

	return offsets * (int64_t)sizeof(int64_t) +
	       column_elements(column, array, rows) *
		   (int64_t)column_element_size(column);
}

static void
add_record(struct stat *stat, const struct reader *reader, const struct record *record)
{
	for (int i = 0; i < stat->columns; i++) {
		const struct column *column = stream_column(reader, i);
		const struct array *array = &record->columns[i];
		struct figures *figures = &stat->figures[i];
		figures->bytes += bytes_of(column, array, record->rows);
		if (column->depth)
			add_lists(figures, column_list_offsets(column, array),
			    column_lists(column, array, record->rows));
		if (!column->text)
			add_elements(figures, column, array->data,
			    column_elements(column, array, record->rows));
	}
	stat->rows += record->rows;
	tally_add(stat->tally, record);
}

struct stat *
stat_new(struct reader *reader)
{
	struct stat *stat = mem_zero(1, sizeof *stat);
	struct record record;

	stat->columns = stream_columns(reader);
	stat->figures = mem_zero((size_t)stat->columns, sizeof *stat->figures);
	stat->tally = tally_new();
	for (int i = 0; i < stat->columns; i++) {
		stat->figures[i].least = INFINITY;
		stat->figures[i].most = -INFINITY;
		stat->figures[i].least_integer = INT64_MAX;
		stat->figures[i].most_integer = INT64_MIN;
	}
	struct progress *progress = stream_progress(reader);
	while (stream_next(reader, &record))
		add_record(stat, reader, &record);
	progress_free(progress);
	stat->records = stream_records(reader);
	return stat;
}

static int64_t
finite_of(const struct figures *figures)
{
	return figures->values - figures->nans - figures->infinities;
}

static double
ratio(double sum, int64_t count)
{
	return count > 0 ? sum / (double)count : NAN;
}

/* For people. ---------------------------------------------------------------------- */

static char *
whole_text(int64_t value)
{
	return mem_format("%lld", (long long)value);
}

static char *
real_text(double value)
{
	return isfinite(value) ? mem_format("%.6g", value) : mem_string("-");
}

static char *
size_text(int64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double size = (double)bytes;
	int unit = -1;

	for (; size >= 1024 && unit < 5; unit++)
		size /= 1024;
	return unit < 0
		   ? mem_format("%lld B", (long long)bytes)
		   : mem_format(size < 10 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static void
head_row(struct text_grid *grid, const char *const *names)
{
	for (; *names; names++)
		grid_add(grid, mem_string(*names));
}

static void
print_numbers(const struct stat *stat, const struct reader *reader)
{
	static const char *const names[] = { "numbers", "size", "values", "nan", "inf",
		"min", "max", "mean", "norm", NULL };
	struct text_grid *grid = grid_new("lrrrrrrrr");

	head_row(grid, names);
	for (int i = 0; i < stat->columns; i++) {
		const struct column *column = stream_column(reader, i);
		const struct figures *figures = &stat->figures[i];
		bool real = dtype_is_float(column->dtype);
		if (column->text)
			continue;
		grid_add(grid, mem_string(column->name));
		grid_add(grid, size_text(figures->bytes));
		grid_add(grid, whole_text(figures->values));
		grid_add(grid, real ? whole_text(figures->nans) : mem_string("-"));
		grid_add(grid, real ? whole_text(figures->infinities) : mem_string("-"));
		grid_add(grid, real_text(figures->least));
		grid_add(grid, real_text(figures->most));
		grid_add(grid, real_text(ratio(figures->sum, finite_of(figures))));
		grid_add(grid,
		    real_text(
			column->rank ? ratio(figures->norms, figures->vectors) : NAN));
	}
	grid_print(grid);
}

static void
print_lists(const struct stat *stat, const struct reader *reader)
{
	static const char *const names[] = { "lists", "size", "values", "empty",
		"shortest", "mean", "longest", NULL };
	struct text_grid *grid = grid_new("lrrrrrr");

	head_row(grid, names);
	for (int i = 0; i < stat->columns; i++) {
		const struct column *column = stream_column(reader, i);
		const struct figures *figures = &stat->figures[i];
		const char *unit = column->text ? " B" : "";
		bool any = figures->lists > 0;
		if (!column->depth)
			continue;
		grid_add(grid, mem_string(column->name));
		grid_add(grid, size_text(figures->bytes));
		grid_add(grid, whole_text(figures->lists));
		grid_add(grid, whole_text(figures->empty));
		grid_add(
		    grid, any ? mem_format("%lld%s", (long long)figures->shortest, unit)
			      : mem_string("-"));
		grid_add(
		    grid, any ? mem_format("%.6g%s",
				    ratio((double)figures->length, figures->lists), unit)
			      : mem_string("-"));
		grid_add(
		    grid, any ? mem_format("%lld%s", (long long)figures->longest, unit)
			      : mem_string("-"));
	}
	grid_print(grid);
}

void
stat_print(const struct stat *stat, const struct reader *reader)
{
	int64_t bytes = 0;
	int numbers = 0, lists = 0;

	for (int i = 0; i < stat->columns; i++) {
		bytes += stat->figures[i].bytes;
		numbers += !stream_column(reader, i)->text;
		lists += stream_column(reader, i)->depth > 0;
	}
	char *size = size_text(bytes);
	status_line_stop();
	printf("records\t%lld\nrows\t%lld\nsize\t%s\n", (long long)stat->records,
	    (long long)stat->rows, size);
	free(size);
	if (numbers) {
		putchar('\n');
		print_numbers(stat, reader);
	}
	if (lists) {
		putchar('\n');
		print_lists(stat, reader);
	}
	if (tally_any(stat->tally)) {
		putchar('\n');
		tally_print(stat->tally);
	}
}

/* For programs. -------------------------------------------------------------------- */

static void
add_real(struct buffer *to, const char *key, double value)
{
	print_format(to, ",\"%s\":", key);
	if (isfinite(value))
		print_number(to, DTYPE_F64, &value, 0);
	else
		print_text(to, "null");
}

/* An integer, or null unless `any`. */
static void
add_whole(struct buffer *to, const char *key, bool any, int64_t value)
{
	print_format(to, ",\"%s\":", key);
	if (any)
		print_number(to, DTYPE_I64, &value, 0);
	else
		print_text(to, "null");
}

static void
add_column(struct buffer *to, const struct column *column, const struct figures *figures)
{
	struct tree *tree = column_tree(column);
	char *text = json_text(tree, 0);
	bool real = dtype_is_float(column->dtype), numbers = !column->text;
	bool lists = figures->lists > 0;

	/* the column's object of the header, with more members */
	buffer_add(to, text, strlen(text) - 1);
	add_whole(to, "bytes", true, figures->bytes);
	add_whole(to, "values", true, numbers ? figures->values : figures->lists);
	add_whole(to, "nan", real, figures->nans);
	add_whole(to, "inf", real, figures->infinities);
	if (column->dtype == DTYPE_I64) {
		add_whole(to, "min", figures->values > 0, figures->least_integer);
		add_whole(to, "max", figures->values > 0, figures->most_integer);
	} else {
		add_real(to, "min", figures->least);
		add_real(to, "max", figures->most);
	}
	add_real(to, "mean", ratio(figures->sum, finite_of(figures)));
	add_real(
	    to, "norm", column->rank ? ratio(figures->norms, figures->vectors) : NAN);
	add_whole(to, "lists", column->depth > 0, figures->lists);
	add_whole(to, "empty", column->depth > 0, figures->empty);
	add_whole(to, "shortest", lists, figures->shortest);
	add_real(to, "length", ratio((double)figures->length, figures->lists));
	add_whole(to, "longest", lists, figures->longest);
	print_text(to, "}");
	free(text);
	tree_free(tree);
}

void
stat_json(const struct stat *stat, const struct reader *reader)
{
	struct buffer to = { 0 };

	print_format(&to, "{\"records\":%lld,\"rows\":%lld,\"columns\":[",
	    (long long)stat->records, (long long)stat->rows);
	for (int i = 0; i < stat->columns; i++) {
		buffer_add(&to, ",", i > 0);
		add_column(&to, stream_column(reader, i), &stat->figures[i]);
	}
	print_text(&to, "],\"attributes\":");
	tally_json(stat->tally, &to);
	print_text(&to, ",");
	head_members(&to, reader);
	print_text(&to, "}\n");
	status_line_stop();
	fwrite(to.data, 1, to.used, stdout);
	free(to.data);
}

void
stat_free(struct stat *stat)
{
	tally_free(stat->tally);
	free(stat->figures);
	free(stat);
}
