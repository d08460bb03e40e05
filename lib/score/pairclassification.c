#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/ranking.h"
#include "score/measure/stats.h"
#include "score/score.h"
#include "score/text_pairs.h"

enum { ACCURACY, F1, PRECISION, RECALL, AP, METRICS };
static const char *const metrics[METRICS] = { "accuracy", "f1", "precision", "recall",
	"ap" };

struct verdict {
	double metric[METRICS];
	double accuracy_threshold, f1_threshold; /* of the similarity */
	double *
	    right; /* [count]: 1 if the pair is classified correctly at accuracy_threshold, else 0 */
};

struct truth {
	bool *positive; /* [count] */
	int64_t count, positives;
};

static struct truth
read_truth(const struct text_pairs *pairs)
{
	struct truth truth = { mem_new((size_t)pairs->count, sizeof(bool)), pairs->count,
		0 };

	for (int64_t i = 0; i < pairs->count; i++) {
		double label = pairs->target.at[i];
		if (label != 0 && label != 1)
			die("%s: pair %lld has the label %g; expected 0 or 1",
			    pairs->stream, (long long)i + 1, label);
		truth.positive[i] = label == 1;
		truth.positives += truth.positive[i];
	}
	if (truth.positives == 0 || truth.positives == pairs->count)
		die("%s: all %lld pairs have the label %d; there is nothing to tell apart",
		    pairs->stream, (long long)pairs->count, truth.positives > 0);
	return truth;
}

/* Sweeps the threshold down from the highest similarity; split_ties: also between equal ones. */
static void
sweep(struct verdict *verdict, const double *similarity, const struct truth *truth,
    bool split_ties)
{
	int64_t n = truth->count, right = 0, wrong = 0, taken = -1;
	int64_t *order = mem_new((size_t)n, sizeof *order);
	double *metric = verdict->metric;

	stats_descending(order, similarity, n);
	for (int64_t i = 0; i < n - 1; i++) {
		double here = similarity[order[i]], next = similarity[order[i + 1]];
		*(truth->positive[order[i]] ? &right : &wrong) += 1;
		if (here == next && !split_ties)
			continue;
		int64_t agreed = right + (n - truth->positives - wrong);
		double accuracy = (double)agreed / (double)n;
		if (accuracy > metric[ACCURACY]) {
			metric[ACCURACY] = accuracy;
			verdict->accuracy_threshold = (here + next) / 2;
			taken = i;
		}
		double precision = (double)right / (double)(i + 1);
		double recall = (double)right / (double)truth->positives;
		double f1 = 2 * precision * recall / (precision + recall);
		if (right > 0 && f1 > metric[F1]) {
			metric[F1] = f1;
			metric[PRECISION] = precision;
			metric[RECALL] = recall;
			verdict->f1_threshold = (here + next) / 2;
		}
	}
	/* by rank, because v1 also splits equal similarities; without a threshold all count as wrong */
	for (int64_t i = 0; taken >= 0 && i < n; i++)
		verdict->right[order[i]] = truth->positive[order[i]] == (i <= taken);
	free(order);
}

static void
report_verdict(
    struct report *report, const char *name, double sign, const struct verdict *verdict)
{
	for (int i = 0; i < METRICS; i++)
		report_score(report, verdict->metric[i], "%s_%s", name, metrics[i]);
	report_score(
	    report, sign * verdict->accuracy_threshold, "%s_accuracy_threshold", name);
	report_score(report, sign * verdict->f1_threshold, "%s_f1_threshold", name);
}

/* Scores one similarity measure, and updates the maximum of each metric. */
static void
judge(struct report *report, const struct text_pairs *pairs, const struct truth *truth,
    const struct score_options *options, enum text_pairs_measure measure,
    double greatest[METRICS])
{
	const double *similarity = pairs->similarity[measure].at;
	const char *name = text_pairs_name(measure);
	struct verdict verdict = { .right =
				       mem_zero((size_t)truth->count, sizeof(double)) };

	sweep(&verdict, similarity, truth, options->protocol == PROTOCOL_V1);
	verdict.metric[AP] =
	    ranking_average_precision(similarity, truth->positive, truth->count);
	if (stats_constant(similarity, truth->count))
		warn("%s: all values of %s are equal: no threshold separates pairs",
		    pairs->stream, name);
	/* mteb reports thresholds of distances, which are negated similarities here */
	bool distance =
	    measure == TEXT_PAIRS_MANHATTAN || measure == TEXT_PAIRS_EUCLIDEAN;
	report_verdict(report, name, distance ? -1 : 1, &verdict);
	for (int i = 0; i < METRICS; i++)
		greatest[i] = fmax(greatest[i], verdict.metric[i]);
	per_query_column(options->per_query, similarity, "%s", name);
	per_query_column(options->per_query, verdict.right, "%s_accuracy", name);
	free(verdict.right);
}

void
score_pairclassification(struct report *report, const struct score_options *options)
{
	static const char *const targets[] = { "label", "labels", NULL };
	struct text_pairs *pairs = text_pairs_read(options, targets, "labels");
	struct truth truth = read_truth(pairs);
	bool split_ties = options->protocol == PROTOCOL_V1;
	int measures = pairs->given ? 1 : TEXT_PAIRS_MEASURES;
	double greatest[METRICS] = { 0 };

	text_pairs_describe(
	    pairs, report, split_ties ? "together (thresholds: by row)" : "together");
	report_set(report, "positive", "%lld", (long long)truth.positives);
	per_query_column(options->per_query, pairs->target.at, "label");
	for (int i = 0; i < measures; i++)
		judge(
		    report, pairs, &truth, options, (enum text_pairs_measure)i, greatest);
	for (int i = 0; i < METRICS; i++)
		report_score(report, greatest[i], "max_%s", metrics[i]);
	report_main(report, "max_ap", "there is no pair");
	free(truth.positive);
	text_pairs_free(pairs);
}
