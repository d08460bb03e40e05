#include "score/measure/trec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/stats.h"

enum {
	NUM_RET,
	NUM_REL,
	NUM_REL_RET,
	SUMS,
	MAP = SUMS,
	RPREC,
	BPREF,
	RECIP_RANK,
	INFAP,
	NDCG,
	POINTS_AVERAGE,
	SET_P,
	SET_RECALL,
	SET_F,
	SET_MAP,
	RBP_50,
	RBP_80,
	RBP_95,
	MEASURES
};
static const char *const measures[] = { "num_ret", "num_rel", "num_rel_ret", "map",
	"Rprec", "bpref", "recip_rank", "infAP", "ndcg", "11pt_avg", "set_P",
	"set_recall", "set_F", "set_map", "rbp_0.50", "rbp_0.80", "rbp_0.95" };
static const double persistence[] = { 0.5, 0.8, 0.95 }; /* of RBP_50 and on */

enum { CUT_P, CUT_RECALL, CUT_MAP, CUT_NDCG, CUT_SUCCESS, CUT_MEASURES };
static const char *const cut_measures[] = { "P", "recall", "map_cut", "ndcg_cut",
	"success" };

enum { POINTS = 11 }; /* of recall */

static const struct cuts usual = { { 5, 10, 15, 20, 30, 100, 200, 500, 1000 }, 9 };
static const struct cuts usual_success = { { 1, 5, 10 }, 3 };

struct trec {
	int64_t level;
	bool exponential;
	int64_t queries;
	struct cuts cuts[CUT_MEASURES];
	struct series values[MEASURES]; /* [queries], as all that follow */
	struct series points[POINTS];
	struct series at_cuts[CUT_MEASURES][RANKING_CUTS];
};

/* A query: its hits and judged documents, and how many of them are relevant. */
struct judged_list {
	const int64_t *found, *judged; /* `judged` descending */
	int64_t count, judgements;
	int64_t relevant,
	    irrelevant; /* of the judged documents; negative grades are neither */
	int64_t hits;	/* relevant ones among `found` */
};

struct trec *
trec_new(int64_t level, bool exponential, const struct cuts *cuts)
{
	struct trec *trec = mem_zero(1, sizeof *trec);

	trec->level = level;
	trec->exponential = exponential;
	for (int m = 0; m < CUT_MEASURES; m++) {
		if (cuts->count)
			trec->cuts[m] = *cuts;
		else
			trec->cuts[m] = m == CUT_SUCCESS ? usual_success : usual;
	}
	return trec;
}

static double
ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* The average precision of the first `depth` hits. */
static double
average_precision(const struct trec *trec, const struct judged_list *list, int64_t depth)
{
	double sum = 0;
	int64_t hits = 0;

	for (int64_t i = 0; i < depth && i < list->count; i++)
		if (list->found[i] >= trec->level)
			sum += (double)++hits / (double)(i + 1);
	return ratio(sum, (double)list->relevant);
}

static int64_t
hits_among(const struct trec *trec, const struct judged_list *list, int64_t depth)
{
	int64_t hits = 0;

	for (int64_t i = 0; i < depth && i < list->count; i++)
		hits += list->found[i] >= trec->level;
	return hits;
}

static double
dcg(const struct trec *trec, const int64_t *grades, int64_t count)
{
	double sum = 0;

	for (int64_t i = 0; i < count; i++)
		sum += ranking_gain(grades[i], i + 1, trec->exponential);
	return sum;
}

static double
ndcg(const struct trec *trec, const struct judged_list *list, int64_t depth)
{
	int64_t found = list->count < depth ? list->count : depth;
	int64_t judged = list->judgements < depth ? list->judgements : depth;

	return ratio(dcg(trec, list->found, found), dcg(trec, list->judged, judged));
}

static double
bpref(const struct trec *trec, const struct judged_list *list)
{
	int64_t relevant = list->relevant, before = 0;
	int64_t most = list->irrelevant < relevant ? list->irrelevant : relevant;
	double sum = 0;

	for (int64_t i = 0; i < list->count; i++) {
		int64_t grade = list->found[i];
		if (grade >= trec->level)
			sum += 1 -
			       (before ? (double)(before < relevant ? before : relevant) /
					     (double)most
				       : 0);
		else
			before += grade >= 0;
	}
	return ratio(sum, (double)relevant);
}

/* At a relevant hit of rank r the precision of the hits before it is estimated from those of them that are judged. */
static double
inferred_precision(const struct trec *trec, const struct judged_list *list)
{
	const double epsilon = 1e-5;
	double sum = 0, relevant = 0, irrelevant = 0, beyond = 0;

	for (int64_t i = 0; i < list->count; i++) {
		int64_t grade = list->found[i];
		if (grade >= trec->level) {
			double before = (double)i;
			double share =
			    (relevant + epsilon) / (relevant + irrelevant + 2 * epsilon);
			double judged = ratio(relevant + irrelevant + beyond, before);
			sum += (1 + before * judged * share) / (before + 1);
			relevant++;
		} else if (grade >= 0) {
			irrelevant++;
		} else {
			beyond += grade == -1;
		}
	}
	return ratio(sum, (double)list->relevant);
}

/* Writes the interpolated precision at recall 0, 0.1 ... 1: the greatest at this recall or beyond. */
static void
interpolate(const struct trec *trec, const struct judged_list *list, double *points)
{
	int64_t hits = list->hits;
	double best = 0;
	int point = POINTS - 1;
	int64_t need[POINTS];

	for (int p = 0; p < POINTS; p++) {
		/* volatile prevents a fused multiply-add, which rounds otherwise than trec_eval */
		volatile double share = p / 10.0 * (double)list->relevant;
		need[p] = (int64_t)(share + 0.9);
		points[p] = 0;
	}
	while (point >= 0 && need[point] > list->hits)
		point--;
	for (int64_t i = list->count; i > 0 && hits > 0; i--) {
		double precision = (double)hits / (double)i;
		best = precision > best ? precision : best;
		if (list->found[i - 1] < trec->level)
			continue;
		for (; point >= 0 && need[point] == hits; point--)
			points[point] = best;
		hits--;
	}
	for (; point >= 0; point--)
		points[point] = best;
}

static double
rank_biased_precision(
    const struct trec *trec, const struct judged_list *list, double persists)
{
	double sum = 0, weight = 1 - persists;

	for (int64_t i = 0; i < list->count; i++, weight *= persists)
		sum += list->found[i] >= trec->level ? weight : 0;
	return sum;
}

static double
reciprocal_rank(const struct trec *trec, const struct judged_list *list)
{
	for (int64_t i = 0; i < list->count; i++)
		if (list->found[i] >= trec->level)
			return 1 / (double)(i + 1);
	return 0;
}

static void
add_whole(struct trec *trec, const struct judged_list *list)
{
	double values[MEASURES], points[POINTS], all = (double)list->relevant;

	values[NUM_RET] = (double)list->count;
	values[NUM_REL] = all;
	values[NUM_REL_RET] = (double)list->hits;
	values[MAP] = average_precision(trec, list, list->count);
	values[RPREC] = ratio((double)hits_among(trec, list, list->relevant), all);
	values[BPREF] = bpref(trec, list);
	values[RECIP_RANK] = reciprocal_rank(trec, list);
	values[INFAP] = inferred_precision(trec, list);
	values[NDCG] = ndcg(trec, list, INT64_MAX);
	values[SET_P] = ratio(values[NUM_REL_RET], values[NUM_RET]);
	values[SET_RECALL] = ratio(values[NUM_REL_RET], all);
	values[SET_MAP] = values[SET_P] * values[SET_RECALL];
	values[SET_F] = ratio(2 * values[SET_MAP], values[SET_P] + values[SET_RECALL]);
	for (int m = RBP_50; m <= RBP_95; m++)
		values[m] = rank_biased_precision(trec, list, persistence[m - RBP_50]);
	interpolate(trec, list, points);
	values[POINTS_AVERAGE] = stats_mean(points, POINTS);
	for (int m = 0; m < MEASURES; m++)
		series_add(&trec->values[m], values[m]);
	for (int p = 0; p < POINTS; p++)
		series_add(&trec->points[p], points[p]);
}

static double
at_cut(const struct trec *trec, const struct judged_list *list, int measure, int64_t cut)
{
	double hits = (double)hits_among(trec, list, cut);

	switch (measure) {
	case CUT_P: return hits / (double)cut;
	case CUT_RECALL: return ratio(hits, (double)list->relevant);
	case CUT_MAP: return average_precision(trec, list, cut);
	case CUT_NDCG: return ndcg(trec, list, cut);
	default: return hits > 0;
	}
}

void
trec_add(struct trec *trec, const int64_t *found, int64_t count, int64_t *judged,
    int64_t judgements)
{
	struct judged_list list = { found, judged, count, judgements, 0, 0, 0 };

	ranking_sort_grades(judged, judgements);
	for (int64_t i = 0; i < judgements; i++) {
		list.relevant += judged[i] >= trec->level;
		list.irrelevant += judged[i] >= 0 && judged[i] < trec->level;
	}
	list.hits = hits_among(trec, &list, count);
	add_whole(trec, &list);
	for (int m = 0; m < CUT_MEASURES; m++)
		for (int c = 0; c < trec->cuts[m].count; c++)
			series_add(&trec->at_cuts[m][c],
			    at_cut(trec, &list, m, trec->cuts[m].at[c]));
	trec->queries++;
}

static void
report_measure(const struct series *values, struct report *report,
    struct per_query *per_query, bool sum, const char *name)
{
	double mean = stats_mean(values->at, values->count);

	report_score(report, sum ? rint(mean * (double)values->count) : mean, "%s", name);
	if (per_query)
		per_query_column(per_query, values->at, "%s", name);
}

/* exp of the mean of the logarithms of average precision, at least 1e-5 */
static double
geometric_mean(const struct series *values)
{
	double sum = 0;

	for (int64_t i = 0; i < values->count; i++)
		sum += log(fmax(values->at[i], 1e-5));
	return exp(sum / (double)values->count);
}

void
trec_report(const struct trec *trec, struct report *report, struct per_query *per_query)
{
	char name[64];

	report_score(report, (double)trec->queries, "num_q");
	for (int m = 0; m < MEASURES; m++) {
		report_measure(
		    &trec->values[m], report, per_query, m < SUMS, measures[m]);
		if (m == MAP)
			report_score(
			    report, geometric_mean(&trec->values[MAP]), "gm_map");
	}
	for (int p = 0; p < POINTS; p++) {
		snprintf(name, sizeof name, "iprec_at_recall_%.2f", p / 10.0);
		report_measure(&trec->points[p], report, per_query, false, name);
	}
	for (int m = 0; m < CUT_MEASURES; m++)
		for (int c = 0; c < trec->cuts[m].count; c++) {
			snprintf(name, sizeof name, "%s_%lld", cut_measures[m],
			    (long long)trec->cuts[m].at[c]);
			report_measure(
			    &trec->at_cuts[m][c], report, per_query, false, name);
		}
}

void
trec_free(struct trec *trec)
{
	for (int m = 0; m < MEASURES; m++)
		free(trec->values[m].at);
	for (int p = 0; p < POINTS; p++)
		free(trec->points[p].at);
	for (int m = 0; m < CUT_MEASURES; m++)
		for (int c = 0; c < trec->cuts[m].count; c++)
			free(trec->at_cuts[m][c].at);
	free(trec);
}
