#include "score/measure/ranking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/abstention.h"
#include "score/measure/stats.h"

static const char *const measures[] = { "ndcg", "map", "recall", "precision", "mrr",
	"hit_rate" };

static const struct cuts usual = { { 1, 3, 5, 10, 20, 100, 1000 }, 7 };

struct ranking {
	enum protocol protocol;
	bool exponential;
	int64_t queries, irrelevant;
	int64_t at[RANKING_CUTS + 1]; /* the cut-offs, rising */
	int cuts;
	struct series values[RANKING_MEASURES][RANKING_CUTS + 1]; /* [queries] */
	struct abstention *abstention;
};

double
ranking_average_precision(const double *score, const bool *relevant, int64_t n)
{
	int64_t *order = mem_new((size_t)n, sizeof *order);
	int64_t found = 0, before = 0;
	double sum = 0;

	stats_descending(order, score, n);
	for (int64_t i = 0; i < n; i++) {
		found += relevant[order[i]];
		if (i + 1 < n && score[order[i + 1]] == score[order[i]])
			continue;
		sum += (double)(found - before) * (double)found / (double)(i + 1);
		before = found;
	}
	free(order);
	return found ? sum / (double)found : NAN;
}

static int
ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct ranking *
ranking_new(
    enum protocol protocol, bool exponential, const struct cuts *cuts, int64_t main_cut)
{
	struct ranking *ranking = mem_zero(1, sizeof *ranking);
	int64_t at[RANKING_CUTS + 1] = { main_cut };
	int count = 1;

	ranking->protocol = protocol;
	ranking->exponential = exponential;
	ranking->abstention = abstention_new(protocol);
	if (!cuts->count)
		cuts = &usual;
	for (int i = 0; i < cuts->count; i++)
		at[count++] = cuts->at[i];
	qsort(at, (size_t)count, sizeof *at, ascending);
	for (int i = 0; i < count; i++)
		if (i == 0 || at[i] != at[i - 1])
			ranking->at[ranking->cuts++] = at[i];
	return ranking;
}

int64_t
ranking_queries(const struct ranking *ranking)
{
	return ranking->queries;
}

int64_t
ranking_irrelevant(const struct ranking *ranking)
{
	return ranking->irrelevant;
}

static double
gain(const struct graded_list *list, int64_t grade, int64_t rank)
{
	if (grade <= 0)
		return 0;
	double value = list->exponential ? exp2((double)grade) - 1 : (double)grade;
	return value / log2((double)(rank + 1));
}

static int
descending(const void *a, const void *b)
{
	return ascending(b, a);
}

struct graded_list
ranking_list(const int64_t *found, int64_t count, int64_t *judged, int64_t judgements,
    int64_t level, bool exponential)
{
	struct graded_list list = { found, judged, count, judgements, level, 0,
		exponential };

	qsort(judged, (size_t)judgements, sizeof *judged, descending);
	while (list.relevant < judgements && judged[list.relevant] >= level)
		list.relevant++;
	return list;
}

void
ranking_measure(
    double values[RANKING_MEASURES], const struct graded_list *list, int64_t k)
{
	double dcg = 0, ideal = 0, precisions = 0, first = 0;
	double all = list->relevant ? (double)list->relevant : 1;
	int64_t hits = 0;

	for (int64_t i = 0; i < k && i < list->judgements; i++)
		ideal += gain(list, list->judged[i], i + 1);
	for (int64_t i = 0; i < k && i < list->count; i++) {
		dcg += gain(list, list->found[i], i + 1);
		if (list->found[i] < list->level)
			continue;
		precisions += (double)++hits / (double)(i + 1);
		if (first == 0)
			first = (double)(i + 1);
	}
	values[RANKING_NDCG] = ideal > 0 ? dcg / ideal : 0;
	values[RANKING_MAP] = precisions / all;
	values[RANKING_RECALL] = (double)hits / all;
	values[RANKING_PRECISION] = (double)hits / (double)k;
	values[RANKING_MRR] = first > 0 ? 1 / first : 0;
	values[RANKING_HIT_RATE] = hits > 0;
}

void
ranking_add(struct ranking *ranking, const int64_t *found, const float *similarity,
    int64_t count, int64_t *judged, int64_t judgements)
{
	struct graded_list list =
	    ranking_list(found, count, judged, judgements, 1, ranking->exponential);
	double values[RANKING_MEASURES];

	ranking->irrelevant += list.relevant == 0;
	for (int cut = 0; cut < ranking->cuts; cut++) {
		ranking_measure(values, &list, ranking->at[cut]);
		for (int m = 0; m < RANKING_MEASURES; m++)
			series_add(&ranking->values[m][cut], values[m]);
	}
	abstention_add(ranking->abstention, similarity, count);
	ranking->queries++;
}

static void
report_mean(const struct ranking *ranking, struct report *report,
    struct per_query *per_query, int measure, int cut, const char *name)
{
	const double *values = ranking->values[measure][cut].at;
	double mean = stats_mean(values, ranking->queries);

	report_score(
	    report, measure == RANKING_MRR ? mean : stats_round(mean, 5), "%s", name);
	per_query_column(per_query, values, "%s", name);
}

void
ranking_report(const struct ranking *ranking, struct report *report,
    struct per_query *per_query, const char *prefix)
{
	int reported =
	    ranking->protocol == PROTOCOL_V1 ? RANKING_HIT_RATE : RANKING_MEASURES;
	char name[80];

	for (int measure = 0; measure < reported; measure++)
		for (int cut = 0; cut < ranking->cuts; cut++) {
			snprintf(name, sizeof name, "%s%s_at_%lld", prefix,
			    measures[measure], (long long)ranking->at[cut]);
			report_mean(ranking, report, per_query, measure, cut, name);
		}
	snprintf(name, sizeof name, "%saccuracy", prefix);
	if (ranking->protocol == PROTOCOL_V2 && ranking->at[0] == 1)
		report_mean(ranking, report, per_query, RANKING_RECALL, 0, name);
	for (int measure = 0; measure < RANKING_HIT_RATE; measure++)
		for (int cut = 0; cut < ranking->cuts; cut++) {
			snprintf(name, sizeof name, "%snauc_%s_at_%lld", prefix,
			    measures[measure], (long long)ranking->at[cut]);
			abstention_report(ranking->abstention, report, name,
			    ranking->values[measure][cut].at);
		}
}

void
ranking_free(struct ranking *ranking)
{
	for (int measure = 0; measure < RANKING_MEASURES; measure++)
		for (int cut = 0; cut < ranking->cuts; cut++)
			free(ranking->values[measure][cut].at);
	abstention_free(ranking->abstention);
	free(ranking);
}
