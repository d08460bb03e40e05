#include "mts/mts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stream/stream_format.h"

enum { CHUNK = 1024 };

struct figures {
	int64_t values, nans, infinities, vectors, lists, empty;
	int64_t shortest, longest, length; /* of lists; their sum */
	double least, most, sum, norms;
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
add_elements(struct figures *figures, const struct column *column, const char *data,
    int64_t elements)
{
	size_t size = dtype_size(column->dtype);
	int64_t width = (int64_t)(column_element_size(column) / size);
	double values[CHUNK];

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

static void
print_ratio(double sum, int64_t count)
{
	if (count > 0)
		printf("\t%.6g", sum / (double)count);
	else
		printf("\t-");
}

static void
print_figures(const struct column *column, const struct figures *figures)
{
	int64_t finite = figures->values - figures->nans - figures->infinities;
	char *text = column_text(column);

	printf("%s\t%lld", text,
	    (long long)(column->text ? figures->lists : figures->values));
	free(text);
	if (column->text || !finite)
		printf("\t-\t-");
	else
		printf("\t%.6g\t%.6g", figures->least, figures->most);
	print_ratio(figures->sum, column->text ? 0 : finite);
	print_ratio(figures->norms, column->rank ? figures->vectors : 0);
	if (dtype_is_float(column->dtype))
		printf("\t%lld\t%lld", (long long)figures->nans,
		    (long long)figures->infinities);
	else
		printf("\t-\t-");
	if (figures->lists)
		printf("\t%lld\t%.6g\t%lld\t%lld\n", (long long)figures->shortest,
		    (double)figures->length / (double)figures->lists,
		    (long long)figures->longest, (long long)figures->empty);
	else
		printf("\t-\t-\t-\t-\n");
}

void
stat_print(struct reader *reader)
{
	int columns = stream_columns(reader);
	struct figures *figures = mem_zero((size_t)columns, sizeof *figures);
	struct record record;
	int64_t rows = 0;

	for (int i = 0; i < columns; i++) {
		figures[i].least = INFINITY;
		figures[i].most = -INFINITY;
	}
	for (; stream_next(reader, &record); rows += record.rows)
		for (int i = 0; i < columns; i++) {
			const struct column *column = stream_column(reader, i);
			const struct array *array = &record.columns[i];
			if (column->depth)
				add_lists(&figures[i], column_list_offsets(column, array),
				    column_lists(column, array, record.rows));
			if (!column->text)
				add_elements(&figures[i], column, array->data,
				    column_elements(column, array, record.rows));
		}
	printf("records\t%lld\nrows\t%lld\n\n", (long long)stream_records(reader),
	    (long long)rows);
	printf("column\tvalues\tmin\tmax\tmean\tnorm\tnan\tinf\tshortest\tlength\tlongest"
	       "\tempty\n");
	for (int i = 0; i < columns; i++)
		print_figures(stream_column(reader, i), &figures[i]);
	free(figures);
}
