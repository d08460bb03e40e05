#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/abstention.h"
#include "score/measure/ranking.h"
#include "score/measure/stats.h"
#include "score/score.h"
#include "search/vectors.h"

enum { MRR_DEPTH = 10, DEPTH = 1000, MAIN_CUT = 1000 };

/* The similarities of a row's texts: positives first, then negatives. */
struct candidate_set {
	int64_t queries, positives, documents;
	double *score;	/* [queries, documents] */
	double *merged; /* [documents], maximum over the queries */
};

struct reranking {
	enum protocol protocol;
	enum similarity similarity;
	int64_t rows, left_out;
	struct series map, mrr; /* v1: [rows] */
	struct abstention *abstention;
	struct ranking *each, *greatest; /* v2 */
};

/* Returns false if the row has no query, no positive or no negative text. */
static bool
compare(struct candidate_set *row, int64_t at, const struct vectors *query,
    const struct vectors *texts[2], enum similarity similarity)
{
	struct vector_range queries = vectors_row(query, at);
	struct vector_range of[2] = { vectors_row(texts[0], at),
		vectors_row(texts[1], at) };
	int64_t d = 0;

	*row = (struct candidate_set){ .queries = queries.count,
		.positives = of[0].count,
		.documents = of[0].count + of[1].count };
	if (!queries.count || !of[0].count || !of[1].count)
		return false;
	row->score = mem_new((size_t)row->queries,
	    mem_multiply((size_t)row->documents, sizeof *row->score, "candidates"));
	row->merged = mem_new((size_t)row->documents, sizeof *row->merged);
	for (int side = 0; side < 2; side++) {
		for (int64_t i = 0; i < of[side].count; i++, d++) {
			row->merged[d] = -INFINITY;
			for (int64_t q = 0; q < row->queries; q++) {
				float score = vectors_similarity(similarity, query,
				    queries.first + q, texts[side], of[side].first + i);
				row->score[q * row->documents + d] = score;
				row->merged[d] = fmax(row->merged[d], score);
			}
		}
	}
	return true;
}

static void
judge_v1(struct reranking *reranking, const struct candidate_set *row)
{
	int64_t n = row->documents;
	int64_t *order = mem_new((size_t)n, sizeof *order);
	bool *relevant = mem_new((size_t)n, sizeof *relevant);
	float *falling = mem_new((size_t)n, sizeof *falling);
	double mrr = 0;

	stats_descending(order, row->merged, n);
	for (int64_t i = 0; i < n; i++) {
		relevant[i] = i < row->positives;
		falling[i] = (float)row->merged[order[i]];
		if (mrr == 0 && i < MRR_DEPTH && order[i] < row->positives)
			mrr = 1 / (double)(i + 1);
	}
	series_add(&reranking->map, ranking_average_precision(row->merged, relevant, n));
	series_add(&reranking->mrr, mrr);
	abstention_add(reranking->abstention, falling, n);
	free(order);
	free(relevant);
	free(falling);
}

/* Ranks equal scores by descending id, which is reverse row order. */
static void
judge_v2(struct ranking *ranking, const double *score, int64_t positives, int64_t n)
{
	int64_t *order = mem_new((size_t)n, sizeof *order), depth = n < DEPTH ? n : DEPTH;
	int64_t *grades = mem_new((size_t)n, sizeof *grades);
	int64_t *judged = mem_new((size_t)n, sizeof *judged);
	float *falling = mem_new((size_t)n, sizeof *falling);

	stats_ascending(order, score, n);
	for (int64_t i = 0; i < n; i++) {
		int64_t document = order[n - 1 - i];
		grades[i] = document < positives;
		judged[i] = i < positives;
		falling[i] = (float)score[document];
	}
	ranking_add(ranking, grades, falling, depth, judged, n);
	free(order);
	free(grades);
	free(judged);
	free(falling);
}

static void
judge(struct reranking *reranking, const struct candidate_set *row)
{
	int64_t n = row->documents;

	if (reranking->protocol == PROTOCOL_V1) {
		judge_v1(reranking, row);
	} else {
		for (int64_t q = 0; q < row->queries; q++)
			judge_v2(reranking->each, row->score + q * n, row->positives, n);
		judge_v2(reranking->greatest, row->merged, row->positives, n);
	}
	reranking->rows++;
}

static void
report_v1(
    const struct reranking *reranking, struct report *report, struct per_query *per_query)
{
	const double *map = reranking->map.at, *mrr = reranking->mrr.at;

	per_query_column(per_query, map, "map");
	per_query_column(per_query, mrr, "mrr");
	report_score(report, stats_mean(map, reranking->rows), "map");
	report_score(report, stats_mean(mrr, reranking->rows), "mrr");
	abstention_report(reranking->abstention, report, "nAUC_map", map);
	abstention_report(reranking->abstention, report, "nAUC_mrr", mrr);
	report_main(report, "map", "there is no row");
}

/* The per-query table has one line per row: of several queries the maximum similarity. */
static void
report_v2(const struct reranking *reranking, struct report *report,
    struct per_query *per_query, bool several)
{
	ranking_report(reranking->each, report, several ? NULL : per_query, "");
	if (several)
		ranking_report(
		    reranking->greatest, report, per_query, "max_over_subqueries_");
	report_main(report, several ? "max_over_subqueries_map_at_1000" : "map_at_1000",
	    "there is no row");
}

static void
read_rows(struct reranking *reranking, struct reader *reader, struct per_query *per_query,
    bool *several)
{
	static const char *const fields[3] = { "query", "positive", "negative" };
	struct vectors *column[3]; /* query, positive, negative */
	bool unit = reranking->similarity == SIMILARITY_COSINE;
	struct record record;

	for (int i = 0; i < 3; i++) {
		column[i] = vectors_open(
		    reader, fields[i], VECTORS_LISTS | (unit ? VECTORS_UNITS : 0));
		vectors_agree(column[0], column[i], false);
	}
	const struct vectors *texts[2] = { column[1], column[2] };
	*several = column[0]->lists;
	while (stream_next(reader, &record)) {
		for (int i = 0; i < 3; i++)
			vectors_load(column[i], &record);
		for (int64_t i = 0; i < record.rows; i++) {
			struct candidate_set row;
			if (compare(&row, i, column[0], texts, reranking->similarity)) {
				per_query_add_row(per_query, reader, &record, i,
				    reranking->rows + reranking->left_out + 1);
				judge(reranking, &row);
				free(row.score);
				free(row.merged);
			} else {
				reranking->left_out++;
			}
		}
	}
	for (int i = 0; i < 3; i++) {
		vectors_warn_zero(column[i], "their cosines are 0");
		vectors_close(column[i]);
	}
}

static void
describe(const struct reranking *reranking, struct report *report)
{
	bool v1 = reranking->protocol == PROTOCOL_V1;

	report_set(report, "similarity", "%s", similarity_name(reranking->similarity));
	report_set(report, "ties", "%s",
	    v1 ? "together (mrr: by row)" : "id descending (negatives first)");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", "%s", v1 ? "none" : "5 decimals (mrr none)");
	report_set(report, "rows", "%lld", (long long)reranking->rows);
}

void
score_reranking(struct report *report, const struct score_options *options)
{
	enum protocol protocol = options->protocol;
	struct reader *reader = stream_open(options->files[0]);
	struct reranking reranking = { .protocol = protocol,
		.similarity = vectors_own_similarity(reader, options->similarity),
		.abstention = abstention_new(protocol),
		.each = ranking_new(protocol, false, &options->cuts, MAIN_CUT),
		.greatest = ranking_new(protocol, false, &options->cuts, MAIN_CUT) };
	bool several;

	read_rows(&reranking, reader, options->per_query, &several);
	if (reranking.left_out)
		warn(
		    "%s: %lld of %lld rows have no query, no positive or no negative text: they are left out",
		    stream_name(reader), (long long)reranking.left_out,
		    (long long)(reranking.left_out + reranking.rows));
	if (reranking.rows == 0)
		die("%s: there is no row with a positive and a negative text",
		    stream_name(reader));
	describe(&reranking, report);
	if (protocol == PROTOCOL_V1)
		report_v1(&reranking, report, options->per_query);
	else
		report_v2(&reranking, report, options->per_query, several);
	stream_close(reader);
	abstention_free(reranking.abstention);
	ranking_free(reranking.each);
	ranking_free(reranking.greatest);
	free(reranking.map.at);
	free(reranking.mrr.at);
}
