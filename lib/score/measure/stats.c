#include "score/measure/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void
series_add(struct series *series, double value)
{
	series->at = mem_grow(
	    series->at, &series->room, (size_t)series->count + 1, sizeof *series->at);
	series->at[series->count++] = value;
}

double
stats_mean(const double *x, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

double
stats_deviation(const double *x, int64_t n, int ddof)
{
	double mean = stats_mean(x, n), sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - ddof));
}

struct indexed_value {
	double value;
	int64_t index;
};

static int
by_value(double x, double y)
{
	if (isnan(x) || isnan(y))
		return !isnan(y) - !isnan(x);
	return (x > y) - (x < y);
}

/* Breaks ties by index, because qsort is not stable. */
static int
ascending(const void *a, const void *b)
{
	const struct indexed_value *x = a, *y = b;
	int order = by_value(x->value, y->value);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int
descending(const void *a, const void *b)
{
	const struct indexed_value *x = a, *y = b;
	bool ordered = x->value < y->value || x->value > y->value;

	return ordered ? ascending(b, a) : ascending(a, b);
}

static struct indexed_value *
sorted(const double *x, int64_t n, int (*compare)(const void *, const void *))
{
	struct indexed_value *values = mem_new((size_t)n, sizeof *values);

	for (int64_t i = 0; i < n; i++)
		values[i] = (struct indexed_value){ x[i], i };
	qsort(values, (size_t)n, sizeof *values, compare);
	return values;
}

void
stats_ranks(double *ranks, const double *x, int64_t n)
{
	struct indexed_value *values = sorted(x, n, ascending);

	for (int64_t first = 0, last; first < n; first = last) {
		double value = values[first].value;
		for (last = first + 1; last < n && values[last].value == value;)
			last++;
		for (int64_t i = first; i < last; i++)
			ranks[values[i].index] =
			    isnan(value) ? NAN : 0.5 * (double)(first + 1 + last);
	}
	free(values);
}

static void
order_of(int64_t *order, struct indexed_value *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		order[i] = values[i].index;
	free(values);
}

void
stats_ascending(int64_t *order, const double *x, int64_t n)
{
	order_of(order, sorted(x, n, ascending), n);
}

void
stats_descending(int64_t *order, const double *x, int64_t n)
{
	order_of(order, sorted(x, n, descending), n);
}

static int
below_or_above(const void *a, const void *b)
{
	return by_value(*(const double *)a, *(const double *)b);
}

void
stats_sort(double *x, int64_t n)
{
	qsort(x, (size_t)n, sizeof *x, below_or_above);
}

double
stats_quantile(const double *sorted, int64_t n, double share)
{
	double at = share * (double)(n - 1);
	int64_t below = (int64_t)floor(at);
	double part = at - (double)below;

	if (below + 1 >= n)
		return sorted[n - 1];
	double gap = sorted[below + 1] - sorted[below];
	return part < 0.5 ? sorted[below] + gap * part
			  : sorted[below + 1] - gap * (1 - part);
}

bool
stats_constant(const double *x, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (x[i] != x[0])
			return false;
	return true;
}

double
stats_round(double value, int decimals)
{
	char text[400];

	if (!isfinite(value))
		return value;
	snprintf(text, sizeof text, "%.*f", decimals, value);
	return strtod(text, NULL);
}
