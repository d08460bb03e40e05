#include "score/measure/correlation.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/stats.h"

double
correlation_pearson(const double *x, const double *y, int64_t n)
{
	double mean_x = stats_mean(x, n), mean_y = stats_mean(y, n);
	double xx = 0, yy = 0, xy = 0;

	for (int64_t i = 0; i < n; i++) {
		double dx = x[i] - mean_x, dy = y[i] - mean_y;
		xx += dx * dx;
		yy += dy * dy;
		xy += dx * dy;
	}
	/* a constant minus its mean leaves only rounding errors */
	double tiny_x = 1e-13 * fabs(mean_x), tiny_y = 1e-13 * fabs(mean_y);
	if (!(sqrt(xx) > tiny_x && sqrt(yy) > tiny_y))
		return NAN;
	/* a single square root makes equal lists give exactly 1; long double avoids overflow */
	double scale = (double)sqrtl((long double)xx * yy);
	double r = xy / scale;
	return isnan(r) ? NAN : fmax(-1, fmin(1, r));
}

double
correlation_spearman(const double *x, const double *y, int64_t n)
{
	double *ranks = mem_new((size_t)n, 2 * sizeof *ranks);

	stats_ranks(ranks, x, n);
	stats_ranks(ranks + n, y, n);
	double rho = correlation_pearson(ranks, ranks + n, n);
	free(ranks);
	return rho;
}
