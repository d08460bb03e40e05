#include "ranking.h"

#include <math.h>
#include <stdlib.h>

#include "mem.h"
#include "stats.h"

enum { NDCG, MAP, RECALL, PRECISION, MRR, MEASURES };
static const char *const measures[] = { "ndcg", "map", "recall", "precision", "mrr" };

enum { CUTS = 7 };
static const int64_t cuts[CUTS] = { 1, 3, 5, 10, 20, 100, 1000 };

struct ranking {
	bool exponential;
	int64_t queries;
	double sums[MEASURES][CUTS];
};

struct ranking *
ranking_new(bool exponential)
{
	struct ranking *ranking = mem_zero(1, sizeof *ranking);

	ranking->exponential = exponential;
	return ranking;
}

static double
gain(const struct ranking *ranking, int64_t grade, int64_t rank)
{
	if (grade <= 0)
		return 0;
	double value = ranking->exponential ? exp2((double)grade) - 1 : (double)grade;
	return value / log2((double)(rank + 1));
}

static int
descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

void
ranking_add(struct ranking *ranking, const int64_t *found, int64_t count, int64_t *judged,
    int64_t judgements)
{
	double dcg = 0, ideal = 0, precisions = 0;
	int64_t relevant = 0, hits = 0, first = 0, rank = 0;

	ranking->queries++;
	qsort(judged, (size_t)judgements, sizeof *judged, descending);
	while (relevant < judgements && judged[relevant] > 0)
		relevant++;
	if (relevant == 0)
		return;
	for (int cut = 0; cut < CUTS; cut++) {
		for (; rank < cuts[cut]; rank++) {
			if (rank < relevant)
				ideal += gain(ranking, judged[rank], rank + 1);
			if (rank >= count || found[rank] <= 0)
				continue;
			dcg += gain(ranking, found[rank], rank + 1);
			precisions += (double)++hits / (double)(rank + 1);
			if (first == 0)
				first = rank + 1;
		}
		ranking->sums[NDCG][cut] += dcg / ideal;
		ranking->sums[MAP][cut] += precisions / (double)relevant;
		ranking->sums[RECALL][cut] += (double)hits / (double)relevant;
		ranking->sums[PRECISION][cut] += (double)hits / (double)cuts[cut];
		ranking->sums[MRR][cut] += first ? 1 / (double)first : 0;
	}
}

void
ranking_report(const struct ranking *ranking, struct report *report)
{
	for (int measure = 0; measure < MEASURES; measure++) {
		for (int cut = 0; cut < CUTS; cut++) {
			double mean =
			    ranking->sums[measure][cut] / (double)ranking->queries;
			char *name = mem_format(
			    "%s_at_%lld", measures[measure], (long long)cuts[cut]);
			report_score(
			    report, name, measure == MRR ? mean : stats_round(mean, 5));
			free(name);
		}
	}
}

void
ranking_free(struct ranking *ranking)
{
	free(ranking);
}
