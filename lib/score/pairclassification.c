#include "score/pairclassification.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/stats.h"
#include "score/text_pairs.h"

enum { ACCURACY, F1, PRECISION, RECALL, AP, METRICS };
static const char *const metrics[METRICS] = { "accuracy", "f1", "precision", "recall",
	"ap" };

struct verdict {
	double metric[METRICS];
	double accuracy_threshold, f1_threshold; /* of the similarity */
};

struct labels {
	bool *positive; /* [count] */
	int64_t count, positives;
};

static struct labels
read_labels(const struct reader *reader, const struct text_pairs *paired)
{
	struct labels labels = { mem_new((size_t)paired->count, sizeof(bool)),
		paired->count, 0 };

	if (paired->count < 2)
		die("%s: %lld pairs; two at least are needed", stream_name(reader),
		    (long long)paired->count);
	for (int64_t i = 0; i < paired->count; i++) {
		double label = paired->target[i];
		if (label != 0 && label != 1)
			die("%s: pair %lld has the label %g; expected 0 or 1",
			    stream_name(reader), (long long)i + 1, label);
		labels.positive[i] = label == 1;
		labels.positives += labels.positive[i];
	}
	if (labels.positives == 0 || labels.positives == paired->count)
		die("%s: all %lld pairs have the label %d; there is nothing to tell "
		    "apart",
		    stream_name(reader), (long long)paired->count, labels.positives > 0);
	return labels;
}

/* Sweep the threshold down from the highest similarity. */
static void
sweep(struct verdict *verdict, const double *similarity, const struct labels *labels,
    bool split_ties)
{
	int64_t n = labels->count, right = 0, wrong = 0;
	int64_t *order = mem_new((size_t)n, sizeof *order);
	double *metric = verdict->metric;

	stats_descending(order, similarity, n);
	for (int64_t i = 0; i < n - 1; i++) {
		double here = similarity[order[i]], next = similarity[order[i + 1]];
		*(labels->positive[order[i]] ? &right : &wrong) += 1;
		if (here == next && !split_ties)
			continue;
		int64_t agreed = right + (n - labels->positives - wrong);
		double accuracy = (double)agreed / (double)n;
		if (accuracy > metric[ACCURACY]) {
			metric[ACCURACY] = accuracy;
			verdict->accuracy_threshold = (here + next) / 2;
		}
		double precision = (double)right / (double)(i + 1);
		double recall = (double)right / (double)labels->positives;
		double f1 = 2 * precision * recall / (precision + recall);
		if (right > 0 && f1 > metric[F1]) {
			metric[F1] = f1;
			metric[PRECISION] = precision;
			metric[RECALL] = recall;
			verdict->f1_threshold = (here + next) / 2;
		}
	}
	free(order);
}

static void
report_verdict(
    struct report *report, enum text_pairs_measure measure, const struct verdict *verdict)
{
	const char *name = text_pairs_name(measure);
	/* the reference speaks of distances where similarities are negated here */
	double sign =
	    measure == TEXT_PAIRS_MANHATTAN || measure == TEXT_PAIRS_EUCLIDEAN ? -1 : 1;

	for (int i = 0; i < METRICS; i++)
		report_named(report, verdict->metric[i], "%s_%s", name, metrics[i]);
	report_named(
	    report, sign * verdict->accuracy_threshold, "%s_accuracy_threshold", name);
	report_named(report, sign * verdict->f1_threshold, "%s_f1_threshold", name);
}

static void
report_greatest(struct report *report, const struct verdict *verdicts, int count)
{
	for (int i = 0; i < METRICS; i++) {
		double greatest = 0;
		for (int j = 0; j < count; j++)
			greatest = fmax(greatest, verdicts[j].metric[i]);
		report_named(report, greatest, "max_%s", metrics[i]);
	}
}

void
score_pairclassification(
    struct report *report, struct reader *reader, const struct score_options *options)
{
	static const char *const targets[] = { "label", "labels", NULL };
	enum similarity own = options->similarity;
	struct text_pairs_options pairs = { { options->fields[0], options->fields[1] },
		own, targets, "labels" };
	struct text_pairs *paired = text_pairs_read(reader, &pairs);
	struct labels labels = read_labels(reader, paired);
	struct verdict verdicts[TEXT_PAIRS_MEASURES] = { { { 0 }, 0, 0 } };
	int measures = paired->given ? 1 : TEXT_PAIRS_MEASURES;
	bool split_ties = options->protocol == PROTOCOL_V1;

	report_set(
	    report, "similarity", "%s", paired->given ? "given" : similarity_name(own));
	report_set(report, "ties", "%s",
	    split_ties ? "together (thresholds: by row)" : "together");
	report_set(report, "precision", "%s", paired->given ? "as given" : "float32");
	report_set(report, "rounding", "none");
	report_set(report, "pairs", "%lld", (long long)labels.count);
	report_set(report, "positive", "%lld", (long long)labels.positives);
	for (int i = 0; i < measures; i++) {
		const double *similarity = paired->similarity[i];
		sweep(&verdicts[i], similarity, &labels, split_ties);
		verdicts[i].metric[AP] =
		    stats_average_precision(similarity, labels.positive, labels.count);
		if (stats_constant(similarity, labels.count))
			warn(
			    "%s: all values of %s are equal: no threshold tells anything",
			    stream_name(reader),
			    text_pairs_name((enum text_pairs_measure)i));
		report_verdict(report, (enum text_pairs_measure)i, &verdicts[i]);
	}
	report_greatest(report, verdicts, measures);
	report_main(report, "max_ap", "there is no pair");
	free(labels.positive);
	text_pairs_free(paired);
}
