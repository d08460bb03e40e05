#include "score/reranking.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/vectors.h"
#include "score/measure/abstention.h"
#include "score/measure/ranking.h"
#include "score/measure/stats.h"

enum { MRR_DEPTH = 10, DEPTH = 1000 };

/* One row, its texts compared: positives first, then negatives. */
struct row {
	int64_t queries, positives, documents;
	float *score;	/* [queries, documents] */
	double *merged; /* [documents], the greatest of any query */
};

struct reranking {
	enum protocol protocol;
	enum similarity similarity;
	int64_t rows, left_out;
	double *map, *mrr; /* v1: [rows] */
	size_t map_room, mrr_room;
	struct abstention *abstention;
	struct ranking *each, *greatest; /* v2 */
};

static void
compare(struct row *row, const struct list *query, const struct list *positive,
    const struct list *negative, enum similarity similarity)
{
	int width = query->width;

	row->queries = query->count;
	row->positives = positive->count;
	row->documents = positive->count + negative->count;
	row->score = mem_new((size_t)row->queries,
	    mem_multiply((size_t)row->documents, sizeof *row->score, "candidates"));
	row->merged = mem_new((size_t)row->documents, sizeof *row->merged);
	for (int64_t d = 0; d < row->documents; d++) {
		const float *document =
		    d < row->positives ? positive->vectors + d * width
				       : negative->vectors + (d - row->positives) * width;
		row->merged[d] = -INFINITY;
		for (int64_t q = 0; q < row->queries; q++) {
			float score = similarity_of(
			    similarity, query->vectors + q * width, document, width);
			row->score[q * row->documents + d] = score;
			row->merged[d] = fmax(row->merged[d], score);
		}
	}
}

static void
judge_v1(struct reranking *reranking, const struct row *row)
{
	int64_t n = row->documents, rows = reranking->rows;
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
	reranking->map = mem_grow(
	    reranking->map, &reranking->map_room, (size_t)rows + 1, sizeof(double));
	reranking->mrr = mem_grow(
	    reranking->mrr, &reranking->mrr_room, (size_t)rows + 1, sizeof(double));
	reranking->map[rows] = stats_average_precision(row->merged, relevant, n);
	reranking->mrr[rows] = mrr;
	abstention_add(reranking->abstention, falling, n);
	free(order);
	free(relevant);
	free(falling);
}

/* Equal scores by falling id, which is the reverse of the order in the row. */
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
judge(struct reranking *reranking, const struct row *row)
{
	int64_t n = row->documents;

	if (reranking->protocol == PROTOCOL_V1) {
		judge_v1(reranking, row);
	} else {
		double *score = mem_new((size_t)n, sizeof *score);
		for (int64_t q = 0; q < row->queries; q++) {
			for (int64_t d = 0; d < n; d++)
				score[d] = row->score[q * n + d];
			judge_v2(reranking->each, score, row->positives, n);
		}
		judge_v2(reranking->greatest, row->merged, row->positives, n);
		free(score);
	}
	reranking->rows++;
}

static void
report_v1(const struct reranking *reranking, struct report *report)
{
	int64_t rows = reranking->rows;

	report_score(report, "map", stats_mean(reranking->map, rows));
	report_score(report, "mrr", stats_mean(reranking->mrr, rows));
	abstention_report(reranking->abstention, report, "nAUC_map", reranking->map);
	abstention_report(reranking->abstention, report, "nAUC_mrr", reranking->mrr);
	report_main(report, "map", "there is no row");
}

static void
report_v2(const struct reranking *reranking, struct report *report, bool several)
{
	ranking_report(reranking->each, report, "");
	if (several)
		ranking_report(reranking->greatest, report, "max_over_subqueries_");
	report_main(report, several ? "max_over_subqueries_map_at_1000" : "map_at_1000",
	    "there is no row");
}

static void
read_rows(struct reranking *reranking, struct lists *query, struct lists *positive,
    struct lists *negative)
{
	struct reader *reader = query->reader;
	struct record record;

	while (stream_next(reader, &record)) {
		lists_load(query, &record);
		lists_load(positive, &record);
		lists_load(negative, &record);
		for (int64_t i = 0; i < record.rows; i++) {
			struct list queries = lists_row(query, i);
			struct list positives = lists_row(positive, i);
			struct list negatives = lists_row(negative, i);
			struct row row;
			if (!queries.count || !positives.count || !negatives.count) {
				reranking->left_out++;
				continue;
			}
			compare(&row, &queries, &positives, &negatives,
			    reranking->similarity);
			judge(reranking, &row);
			free(row.score);
			free(row.merged);
		}
	}
}

void
score_reranking(
    struct report *report, struct reader *reader, const struct score_options *options)
{
	enum similarity similarity = options->similarity;
	enum protocol protocol = options->protocol;
	bool unit = similarity == SIMILARITY_COSINE;
	struct reranking reranking = { .protocol = protocol,
		.similarity = similarity,
		.abstention = abstention_new(protocol),
		.each = ranking_new(protocol, false),
		.greatest = ranking_new(protocol, false) };
	struct lists *query = lists_open(reader, "query", unit);
	struct lists *positive = lists_open(reader, "positive", unit);
	struct lists *negative = lists_open(reader, "negative", unit);

	lists_agree(query, positive);
	lists_agree(query, negative);
	read_rows(&reranking, query, positive, negative);
	if (reranking.left_out)
		warn("%s: %lld of %lld rows have no query, no positive or no negative "
		     "text: they are left out",
		    stream_name(reader), (long long)reranking.left_out,
		    (long long)(reranking.left_out + reranking.rows));
	if (reranking.rows == 0)
		die("%s: there is no row with a positive and a negative text",
		    stream_name(reader));
	report_set(report, "similarity", "%s", similarity_name(similarity));
	report_set(report, "ties", "%s",
	    protocol == PROTOCOL_V1 ? "together (mrr: by row)"
				    : "id descending (negatives first)");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", "%s",
	    protocol == PROTOCOL_V1 ? "none" : "5 decimals (mrr none)");
	report_set(report, "rows", "%lld", (long long)reranking.rows);
	if (protocol == PROTOCOL_V1)
		report_v1(&reranking, report);
	else
		report_v2(&reranking, report, query->depth == 1);
	lists_close(query);
	lists_close(positive);
	lists_close(negative);
	abstention_free(reranking.abstention);
	ranking_free(reranking.each);
	ranking_free(reranking.greatest);
	free(reranking.map);
	free(reranking.mrr);
}
