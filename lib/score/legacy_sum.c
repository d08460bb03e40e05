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

int32_t
legacy_sum_clusters(int32_t *one, const int32_t *two, int64_t n, double weight)
{
	double *values = mem_new((size_t)n, sizeof *values);
	int64_t *order = mem_new((size_t)n, sizeof *order);
	int32_t count = 0;

	for (int64_t i = 0; i < n; i++)
		values[i] = legacy_sum(one[i], two[i], weight);
	stats_ascending(order, values, n);
	for (int64_t i = 0; i < n; i++) {
		count += i == 0 || values[order[i]] != values[order[i - 1]];
		one[order[i]] = count - 1;
	}
	free(order);
	free(values);
	return count;
}

void
legacy_sum_describe(struct report *report, const char *const fields[2], double weight)
{
	if (weight > 0)
		report_set(
		    report, "legacy sum", "%s + %g %s", fields[0], weight, fields[1]);
}
