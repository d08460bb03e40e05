#include "papers/reze/shrinkage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "score/measure/stats.h"

/* Smaller steps are rounding: with two sources, each lies on the edge of the band. */
static const double rounding = 1e-12;

int
shrinkage_active(const double *values, int count, double total, double rho)
{
	double sum = 0;

	for (int j = 0; j < count; j++) {
		sum += values[j];
		if (sum >= rho * total)
			return j + 1;
	}
	return count;
}

/* room[n]: scratch memory. */
static double
median(double *room, const double *list, int n)
{
	memcpy(room, list, (size_t)n * sizeof *room);
	stats_sort(room, n);
	return stats_quantile(room, n, 0.5);
}

/* Equations 2 and 5: centre, dispersion and band of one component. */
static void
measure(struct shrinkage *shrinkage, const struct shrinkage_settings *settings,
    const double *means, int j, double *room)
{
	int n = shrinkage->sources;
	double m = settings->centre == CENTRE_MEDIAN ? median(room, means, n)
		   : settings->centre == CENTRE_MEAN ? stats_mean(means, n)
						     : 0;
	double squares = 0;

	for (int s = 0; s < n; s++) {
		room[s] = fabs(means[s] - m);
		squares += room[s] * room[s];
	}
	shrinkage->centre[j] = m;
	shrinkage->dispersion[j] = squares / n;
	double mean = stats_mean(room, n);
	stats_sort(room, n);
	shrinkage->bands[j] =
	    settings->gamma *
	    (settings->band == BAND_MEAN ? mean : stats_quantile(room, n, 0.5));
}

/* Equation 4. */
static double
threshold_of(const double *dispersion, int active, double gamma)
{
	double *room = mem_new((size_t)active, sizeof *room);
	double *apart = mem_new((size_t)active, sizeof *apart);
	double middle = median(room, dispersion, active);

	for (int j = 0; j < active; j++)
		apart[j] = fabs(dispersion[j] - middle);
	double spread = median(room, apart, active);
	free(room);
	free(apart);
	return middle + gamma * (spread + SHRINKAGE_EPSILON);
}

/* Equation 6, for a component that varies. */
static double
factor_of(
    const struct shrinkage_settings *settings, double mean, double centre, double band)
{
	double apart = mean - centre;

	if (!(fabs(apart) >= band))
		return 1;
	double step = centre + (apart < 0 ? -band : band) - mean;
	double divisor = fabs(mean) + SHRINKAGE_EPSILON;
	if (!settings->printed && mean < 0)
		divisor = -divisor;
	double factor = 1 + settings->eta * step / divisor;
	if (fabs(factor - 1) < rounding)
		return 1;
	return fmin(settings->most, fmax(settings->least, factor));
}

bool
shrinkage_varies(const struct shrinkage *shrinkage, int component)
{
	return component < shrinkage->active &&
	       shrinkage->dispersion[component] > shrinkage->threshold;
}

struct shrinkage *
shrinkage_new(const double *means, int components, int sources, int active,
    const struct shrinkage_settings *settings)
{
	struct shrinkage *shrinkage = mem_zero(1, sizeof *shrinkage);
	size_t count = (size_t)components;
	double *room = mem_new((size_t)sources, sizeof *room);

	shrinkage->sources = sources;
	shrinkage->active = active;
	shrinkage->centre = mem_new(count, sizeof(double));
	shrinkage->dispersion = mem_new(count, sizeof(double));
	shrinkage->bands = mem_new(count, sizeof(double));
	shrinkage->factors = mem_new(count * (size_t)sources, sizeof(double));
	for (int j = 0; j < components; j++)
		measure(
		    shrinkage, settings, means + (size_t)j * (size_t)sources, j, room);
	shrinkage->threshold =
	    threshold_of(shrinkage->dispersion, active, settings->gamma);
	for (int j = 0; j < components; j++)
		for (int s = 0; s < sources; s++) {
			size_t at = (size_t)j * (size_t)sources + (size_t)s;
			shrinkage->factors[at] =
			    shrinkage_varies(shrinkage, j)
				? factor_of(settings, means[at], shrinkage->centre[j],
				      shrinkage->bands[j])
				: 1;
		}
	free(room);
	return shrinkage;
}

void
shrinkage_free(struct shrinkage *shrinkage)
{
	free(shrinkage->centre);
	free(shrinkage->dispersion);
	free(shrinkage->bands);
	free(shrinkage->factors);
	free(shrinkage);
}
