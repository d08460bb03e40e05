#include "score/sts.h"

#include "base/err.h"
#include "score/measure/stats.h"
#include "score/text_pairs.h"

static void
report_correlations(struct report *report, const struct text_pairs *paired,
    enum text_pairs_measure measure)
{
	const double *similarity = paired->similarity[measure];
	double spearman = stats_spearman(similarity, paired->target, paired->count);
	double pearson = stats_pearson(similarity, paired->target, paired->count);

	if (measure == TEXT_PAIRS_OWN) {
		report_score(report, "spearman", spearman);
		report_score(report, "pearson", pearson);
	} else {
		report_named(report, spearman, "%s_spearman", text_pairs_name(measure));
		report_named(report, pearson, "%s_pearson", text_pairs_name(measure));
	}
}

void
score_sts(
    struct report *report, struct reader *reader, const struct score_options *options)
{
	static const char *const targets[] = { "score", NULL };
	enum similarity own = options->similarity;
	struct text_pairs_options pairs = { { options->fields[0], options->fields[1] },
		own, targets, "gold similarities" };
	struct text_pairs *paired = text_pairs_read(reader, &pairs);

	if (paired->count < 2)
		die("%s: %lld pairs have no correlation; two at least are needed",
		    stream_name(reader), (long long)paired->count);
	report_set(
	    report, "similarity", "%s", paired->given ? "given" : similarity_name(own));
	report_set(report, "ties", "mean rank");
	report_set(report, "precision", "%s", paired->given ? "as given" : "float32");
	report_set(report, "rounding", "none");
	report_set(report, "pairs", "%lld", (long long)paired->count);
	report_correlations(report, paired, TEXT_PAIRS_OWN);
	for (int i = TEXT_PAIRS_COSINE; i < TEXT_PAIRS_DOT && !paired->given; i++)
		report_correlations(report, paired, (enum text_pairs_measure)i);
	report_main(report, paired->given ? "spearman" : "cosine_spearman",
	    "all gold scores or all similarities are equal");
	text_pairs_free(paired);
}
