#include "score/measure/correlation.h"
#include "score/score.h"
#include "score/text_pairs.h"

static void
report_correlations(struct report *report, const struct text_pairs *pairs,
    struct per_query *per_query, enum text_pairs_measure measure, const char *prefix)
{
	const double *similarity = pairs->similarity[measure].at,
		     *gold = pairs->target.at;

	report_score(report, correlation_spearman(similarity, gold, pairs->count),
	    "%sspearman", prefix);
	report_score(report, correlation_pearson(similarity, gold, pairs->count),
	    "%spearson", prefix);
	per_query_column(per_query, similarity, "%s", text_pairs_name(measure));
}

void
score_sts(struct report *report, const struct score_options *options)
{
	static const char *const targets[] = { "score", NULL };
	struct per_query *per_query = options->per_query;
	struct text_pairs *pairs = text_pairs_read(options, targets, "gold similarities");

	text_pairs_describe(pairs, report, "mean rank");
	per_query_column(per_query, pairs->target.at, "gold");
	report_correlations(report, pairs, per_query, TEXT_PAIRS_OWN, "");
	if (!pairs->given) {
		report_correlations(
		    report, pairs, per_query, TEXT_PAIRS_COSINE, "cosine_");
		report_correlations(
		    report, pairs, per_query, TEXT_PAIRS_MANHATTAN, "manhattan_");
		report_correlations(
		    report, pairs, per_query, TEXT_PAIRS_EUCLIDEAN, "euclidean_");
	}
	report_main(report, pairs->given ? "spearman" : "cosine_spearman",
	    "all gold scores or all similarities are equal");
	text_pairs_free(pairs);
}
