#include "papers/reze/statistics.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Relative to the squared mean: far below the variance of distinct float32, far above rounding. */
static const double least_variance = 1e-24;

struct statistics *
statistics_new(int width)
{
	struct statistics *statistics = mem_zero(1, sizeof *statistics);

	statistics->width = width;
	statistics->sums = covariance_new(width);
	statistics->sources = strings_new();
	return statistics;
}

int
statistics_source(struct statistics *statistics, const char *name, size_t length)
{
	bool fresh;
	int64_t source = strings_add(statistics->sources, name, length, &fresh);

	if (fresh) {
		statistics->by_source =
		    mem_grow(statistics->by_source, &statistics->capacity,
			(size_t)source + 1, sizeof *statistics->by_source);
		statistics->by_source[source] = (struct source_sum){
			.sum = mem_zero((size_t)statistics->width, sizeof(double))
		};
	}
	return (int)source;
}

void
statistics_count(struct statistics *statistics, const float *relation, int source)
{
	struct source_sum *own = &statistics->by_source[source];

	own->pairs++;
	for (int j = 0; j < statistics->width; j++)
		own->sum[j] += (double)relation[j];
}

void
statistics_merge(struct statistics *statistics, const struct statistics *other)
{
	covariance_merge(statistics->sums, other->sums);
	for (int s = 0; s < strings_count(other->sources); s++) {
		int own = statistics_source(statistics, strings_get(other->sources, s),
		    strings_length(other->sources, s));
		struct source_sum *to = &statistics->by_source[own];
		to->pairs += other->by_source[s].pairs;
		for (int j = 0; j < statistics->width; j++)
			to->sum[j] += other->by_source[s].sum[j];
	}
}

static void
sort_sources(struct statistics *statistics)
{
	const struct strings *names = statistics->sources;
	int count = (int)strings_count(names);
	int64_t *order = strings_order(names);
	struct source_sum *sorted = mem_new((size_t)count, sizeof *sorted);
	struct strings *sources = strings_new();

	for (int i = 0; i < count; i++) {
		strings_add(sources, strings_get(names, order[i]),
		    strings_length(names, order[i]), NULL);
		sorted[i] = statistics->by_source[order[i]];
	}
	free(order);
	free(statistics->by_source);
	strings_free(statistics->sources);
	statistics->by_source = sorted;
	statistics->capacity = (size_t)count;
	statistics->sources = sources;
}

double *
statistics_mean(const struct statistics *statistics, int source)
{
	const struct source_sum *from = &statistics->by_source[source];
	double *mean = mem_new((size_t)statistics->width, sizeof *mean);

	for (int j = 0; j < statistics->width; j++)
		mean[j] = from->sum[j] / (double)from->pairs;
	return mean;
}

/* Computes the sources' means in the eigenspace: W^T (mean - u). */
static void
project_means(struct statistics *statistics)
{
	const struct eigen *eigen = statistics->eigen;
	int sources = (int)strings_count(statistics->sources), width = statistics->width;

	statistics->means =
	    mem_new((size_t)eigen->rank * (size_t)sources, sizeof(double));
	for (int s = 0; s < sources; s++) {
		double *mean = statistics_mean(statistics, s);
		cblas_daxpy(width, -1, statistics->sums->mean, 1, mean, 1);
		cblas_dgemv(CblasRowMajor, CblasNoTrans, eigen->rank, width, 1,
		    eigen->vectors, width, mean, 1, 0, statistics->means + s, sources);
		free(mean);
	}
}

/* The number of a source's factors that are not 1. */
static int
shrunk_factors(const struct statistics *statistics, int source)
{
	const struct shrinkage *shrinkage = statistics->shrinkage;
	int shrunk = 0;

	for (int j = 0; j < shrinkage->active; j++)
		shrunk += shrinkage->factors[j * shrinkage->sources + source] != 1;
	return shrunk;
}

/* Warns if the covariance is singular, sources have a single pair, or nothing is shrunk. */
static void
tell(const struct statistics *statistics, const char *stream)
{
	const struct strings *names = statistics->sources;
	int sources = (int)strings_count(names), shrunk = 0, single = 0, first = -1;
	int64_t pairs = statistics->sums->count;

	for (int s = 0; s < sources; s++) {
		shrunk += shrunk_factors(statistics, s) > 0;
		if (statistics->by_source[s].pairs == 1) {
			single++;
			first = first < 0 ? s : first;
		}
	}
	if (pairs <= statistics->width)
		warn(
		    "%s: there are %lld relations of %d components: the covariance is singular, of rank %lld at most",
		    stream, (long long)pairs, statistics->width, (long long)pairs - 1);
	if (single)
		warn(
		    "%s: %d of %d sources have a single pair, which is taken for their mean; first: '%s'",
		    stream, single, sources, strings_get(names, first));
	if (shrunk == 0)
		warn("%s: nothing is shrunk, in no source%s", stream,
		    sources == 1 ? ": it is the only one, and the mean of all"
		    : sources == 2
			? ": there are but two, as far from their median as each other"
			: "");
}

/* The total variance; dies if it is zero up to rounding. */
static double
variance_of(const struct statistics *statistics, const double *matrix, const char *stream)
{
	const struct covariance *sums = statistics->sums;
	size_t width = (size_t)statistics->width;
	double total = 0, square = 0;

	for (size_t j = 0; j < width; j++) {
		total += matrix[j * width + j];
		square += sums->mean[j] * sums->mean[j];
	}
	if (!(total > least_variance * square))
		die("%s: the covariance is zero: all %lld relations are the same, and have no directions",
		    stream, (long long)sums->count);
	return total;
}

static void
warn_rank(const struct statistics *statistics, double total, const char *stream)
{
	const struct eigen *eigen = statistics->eigen;
	double sum = 0;

	for (int j = 0; j < eigen->rank; j++)
		sum += eigen->values[j];
	if (eigen->rank < eigen->width && sum < statistics->settings.rho * total)
		warn(
		    "%s: %d eigenvectors have %.4g of the variance, and %g is to be active; raise --eigenvectors",
		    stream, eigen->rank, sum / total, statistics->settings.rho);
}

void
statistics_unsolve(struct statistics *statistics)
{
	if (!statistics->eigen)
		return;
	eigen_free(statistics->eigen);
	shrinkage_free(statistics->shrinkage);
	free(statistics->means);
	statistics->eigen = NULL;
	statistics->shrinkage = NULL;
	statistics->means = NULL;
}

void
statistics_solve(struct statistics *statistics, int rank,
    const struct shrinkage_settings *settings, const char *stream)
{
	int width = statistics->width;

	statistics_unsolve(statistics);
	covariance_finish(statistics->sums);
	sort_sources(statistics);
	rank = rank > 0 && rank < width ? rank : width;
	statistics->settings = *settings;
	double *matrix = covariance_matrix(statistics->sums, 0);
	double total = variance_of(statistics, matrix, stream);
	statistics->eigen = eigen_symmetric(matrix, width, rank);
	free(matrix);
	project_means(statistics);
	statistics->shrinkage = shrinkage_new(statistics->means, rank,
	    (int)strings_count(statistics->sources),
	    shrinkage_active(statistics->eigen->values, rank, total, settings->rho),
	    settings);
	warn_rank(statistics, total, stream);
	tell(statistics, stream);
}

void
statistics_free(struct statistics *statistics)
{
	for (int s = 0; s < strings_count(statistics->sources); s++)
		free(statistics->by_source[s].sum);
	free(statistics->by_source);
	strings_free(statistics->sources);
	covariance_free(statistics->sums);
	free(statistics->anchor);
	free(statistics->positive);
	free(statistics->model);
	free(statistics->kind);
	free(statistics->model_stream);
	statistics_unsolve(statistics);
	free(statistics);
}
