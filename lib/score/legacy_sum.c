#include "score/legacy_sum.h"

#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/stats.h"

double
legacy_sum(double one, double two, double weight)
{
	/* volatile prevents a fused multiply-add, which would round once */
	volatile double part = weight * two;

	return (one + part) / (1 + weight);
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int32_t
legacy_sum_clusters(int32_t *one, const int32_t *two, int64_t n, double weight)
{
	double *values = mem_new((size_t)n, 2 * sizeof *values), *sorted = values + n;
	int64_t count = 0;

	for (int64_t i = 0; i < n; i++)
		sorted[i] = values[i] = legacy_sum(one[i], two[i], weight);
	stats_sort(sorted, n);
	for (int64_t i = 0; i < n; i++)
		if (!count || sorted[i] != sorted[count - 1])
			sorted[count++] = sorted[i];
	for (int64_t i = 0; i < n; i++) {
		const double *place =
		    bsearch(&values[i], sorted, (size_t)count, sizeof *sorted, by_value);
		one[i] = (int32_t)(place - sorted);
	}
	free(values);
	return (int32_t)count;
}

void
legacy_sum_describe(struct report *report, const char *const fields[2], double weight)
{
	if (weight > 0)
		report_set(
		    report, "legacy sum", "%s + %g %s", fields[0], weight, fields[1]);
}
