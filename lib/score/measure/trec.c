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

enum { CUT_MEASURES = 5 };
static const struct {
	const char *name;
	enum ranking_measure measure;
} cut_measures[CUT_MEASURES] = { { "P", RANKING_PRECISION }, { "recall", RANKING_RECALL },
	{ "map_cut", RANKING_MAP }, { "ndcg_cut", RANKING_NDCG },
	{ "success", RANKING_HIT_RATE } };

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
			trec->cuts[m] = cut_measures[m].measure == RANKING_HIT_RATE
					    ? usual_success
					    : usual;
	}
	return trec;
}

static double
ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* The number of hits with a grade of least .. most - 1. */
static int64_t
count_grades(const int64_t *grades, int64_t count, int64_t least, int64_t most)
{
	int64_t found = 0;

	for (int64_t i = 0; i < count; i++)
		found += grades[i] >= least && grades[i] < most;
	return found;
}

static double
bpref(const struct graded_list *list)
{
	int64_t relevant = list->relevant, before = 0;
	int64_t irrelevant = count_grades(list->judged, list->judgements, 0, list->level);
	int64_t most = irrelevant < relevant ? irrelevant : relevant;
	double sum = 0;

	for (int64_t i = 0; i < list->count; i++) {
		int64_t grade = list->found[i];
		if (grade >= list->level)
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
inferred_precision(const struct graded_list *list)
{
	const double epsilon = 1e-5;
	double sum = 0, relevant = 0, irrelevant = 0, beyond = 0;

	for (int64_t i = 0; i < list->count; i++) {
		int64_t grade = list->found[i];
		if (grade >= list->level) {
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
interpolate(const struct graded_list *list, int64_t found, double *points)
{
	int64_t hits = found;
	double best = 0;
	int point = POINTS - 1;
	int64_t need[POINTS];

	for (int p = 0; p < POINTS; p++) {
		/* volatile prevents a fused multiply-add, which rounds otherwise than trec_eval */
		volatile double share = p / 10.0 * (double)list->relevant;
		need[p] = (int64_t)(share + 0.9);
		points[p] = 0;
	}
	while (point >= 0 && need[point] > found)
		point--;
	for (int64_t i = list->count; i > 0 && hits > 0; i--) {
		double precision = (double)hits / (double)i;
		best = precision > best ? precision : best;
		if (list->found[i - 1] < list->level)
			continue;
		for (; point >= 0 && need[point] == hits; point--)
			points[point] = best;
		hits--;
	}
	for (; point >= 0; point--)
		points[point] = best;
}

static double
rank_biased_precision(const struct graded_list *list, double persists)
{
	double sum = 0, weight = 1 - persists;

	for (int64_t i = 0; i < list->count; i++, weight *= persists)
		sum += list->found[i] >= list->level ? weight : 0;
	return sum;
}

static void
add_whole(struct trec *trec, const struct graded_list *list)
{
	double values[MEASURES], points[POINTS], whole[RANKING_MEASURES],
	    first[RANKING_MEASURES];
	int64_t hits = count_grades(list->found, list->count, list->level, INT64_MAX);

	ranking_measure(whole, list, list->count + list->judgements);
	ranking_measure(first, list, list->relevant);
	values[NUM_RET] = (double)list->count;
	values[NUM_REL] = (double)list->relevant;
	values[NUM_REL_RET] = (double)hits;
	values[MAP] = whole[RANKING_MAP];
	values[RPREC] = first[RANKING_RECALL];
	values[BPREF] = bpref(list);
	values[RECIP_RANK] = whole[RANKING_MRR];
	values[INFAP] = inferred_precision(list);
	values[NDCG] = whole[RANKING_NDCG];
	values[SET_P] = ratio((double)hits, values[NUM_RET]);
	values[SET_RECALL] = whole[RANKING_RECALL];
	values[SET_MAP] = values[SET_P] * values[SET_RECALL];
	values[SET_F] = ratio(2 * values[SET_MAP], values[SET_P] + values[SET_RECALL]);
	for (int m = RBP_50; m <= RBP_95; m++)
		values[m] = rank_biased_precision(list, persistence[m - RBP_50]);
	interpolate(list, hits, points);
	values[POINTS_AVERAGE] = stats_mean(points, POINTS);
	for (int m = 0; m < MEASURES; m++)
		series_add(&trec->values[m], values[m]);
	for (int p = 0; p < POINTS; p++)
		series_add(&trec->points[p], points[p]);
}

void
trec_add(struct trec *trec, const int64_t *found, int64_t count, int64_t *judged,
    int64_t judgements)
{
	struct graded_list list = ranking_list(
	    found, count, judged, judgements, trec->level, trec->exponential);
	double values[RANKING_MEASURES];

	add_whole(trec, &list);
	for (int m = 0; m < CUT_MEASURES; m++)
		for (int c = 0; c < trec->cuts[m].count; c++) {
			ranking_measure(values, &list, trec->cuts[m].at[c]);
			series_add(&trec->at_cuts[m][c], values[cut_measures[m].measure]);
		}
	trec->queries++;
}

static void
report_measure(const struct series *values, struct report *report,
    struct per_query *per_query, bool sum, const char *name)
{
	double mean = stats_mean(values->at, values->count);

	report_score(report, sum ? rint(mean * (double)values->count) : mean, "%s", name);
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
			snprintf(name, sizeof name, "%s_%lld", cut_measures[m].name,
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
