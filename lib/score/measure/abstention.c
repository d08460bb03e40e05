#include "score/measure/abstention.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/stats.h"

enum { GREATEST, DEVIATION, AHEAD, CONFIDENCES, RATES = 10 };
static const char *const names[CONFIDENCES] = { "max", "std", "diff1" };

struct abstention {
	enum protocol protocol;
	int64_t queries;
	struct series confidence[CONFIDENCES]; /* [queries] */
};

struct abstention *
abstention_new(enum protocol protocol)
{
	struct abstention *abstention = mem_zero(1, sizeof *abstention);

	abstention->protocol = protocol;
	return abstention;
}

static double
deviation(const float *similarity, int64_t count)
{
	double mean = 0, sum = 0;

	for (int64_t i = 0; i < count; i++)
		mean += similarity[i];
	mean /= (double)count;
	for (int64_t i = 0; i < count; i++)
		sum += (similarity[i] - mean) * (similarity[i] - mean);
	return sqrt(sum / (double)count);
}

void
abstention_add(struct abstention *abstention, const float *similarity, int64_t count)
{
	double confidence[CONFIDENCES] = { 0 };

	if (count > 0) {
		confidence[GREATEST] = similarity[0];
		confidence[DEVIATION] = deviation(similarity, count);
	}
	if (count > 1)
		confidence[AHEAD] = (double)similarity[0] - similarity[1];
	for (int i = 0; i < CONFIDENCES; i++)
		series_add(&abstention->confidence[i], confidence[i]);
	abstention->queries++;
}

/* Writes the metric in ascending order of confidence. */
static void
arrange(double *arranged, const struct abstention *abstention, const double *confidence,
    const double *metric)
{
	int64_t n = abstention->queries;
	int64_t *order = mem_new((size_t)n, sizeof *order);

	stats_ascending(order, confidence, n);
	for (int64_t i = 0; i < n; i++)
		arranged[i] = metric[order[i]];
	for (int64_t first = 0, last; first < n; first = last) {
		double sum = arranged[first];
		for (last = first + 1;
		     last < n && confidence[order[last]] == confidence[order[first]];
		     last++)
			sum += arranged[last];
		for (int64_t i = first; i < last && abstention->protocol != PROTOCOL_V1;
		     i++)
			arranged[i] = sum / (double)(last - first);
	}
	free(order);
}

/* The area under the curve of abstention rates; *all is the mean over all queries. */
static double
area(const struct abstention *abstention, const double *confidence, const double *metric,
    double *all)
{
	int64_t n = abstention->queries;
	double *arranged = mem_new((size_t)n, sizeof *arranged);
	double sum = 0, before = 0;

	arrange(arranged, abstention, confidence, metric);
	for (int rate = 0; rate < RATES; rate++) {
		double share = rate * 0.1 * (double)n; /* rounded like numpy's linspace */
		int64_t out = (int64_t)fmin(nearbyint(share), (double)(n - 1));
		double mean = stats_mean(arranged + out, n - out);
		if (rate)
			sum += 0.1 * (before + mean) / 2;
		else
			*all = mean;
		before = mean;
	}
	free(arranged);
	return sum;
}

void
abstention_report(const struct abstention *abstention, struct report *report,
    const char *prefix, const double *metric)
{
	bool any = abstention->queries > 0;
	double all = NAN, best = any ? area(abstention, metric, metric, &all) : NAN;
	double flat = all * 0.9;

	for (int i = 0; i < CONFIDENCES; i++) {
		double score = NAN;
		if (fabs(best - flat) > 1e-12) {
			double own =
			    area(abstention, abstention->confidence[i].at, metric, &all);
			score = (own - flat) / (best - flat);
		}
		report_score(report, score, "%s_%s", prefix, names[i]);
	}
}

void
abstention_free(struct abstention *abstention)
{
	for (int i = 0; i < CONFIDENCES; i++)
		free(abstention->confidence[i].at);
	free(abstention);
}
