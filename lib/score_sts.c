#include "score_sts.h"

#include <math.h>
#include <stdlib.h>

#include "err.h"
#include "mem.h"
#include "stats.h"
#include "values.h"

enum { COSINE, MANHATTAN, EUCLIDEAN, MEASURES };
static const char *const measures[] = { "cosine", "manhattan", "euclidean" };

/* One growing list a measure, one of gold scores. */
struct pairs {
	double *similarity[MEASURES], *gold;
	size_t capacity, count;
	int64_t zero;
};

static void
grow(struct pairs *pairs, int64_t more)
{
	size_t capacity = pairs->capacity, need = pairs->count + (size_t)more;

	if (need <= capacity)
		return;
	pairs->gold = mem_grow(pairs->gold, &pairs->capacity, need, sizeof *pairs->gold);
	for (int i = 0; i < MEASURES; i++) {
		size_t same = capacity;
		pairs->similarity[i] =
		    mem_grow(pairs->similarity[i], &same, need, sizeof *pairs->gold);
	}
}

/*
 * The reference takes 1 - |a/|a| - b/|b||^2 / 2, which makes equal vectors exactly 1, and decides
 * ties in float32; a zero vector stays zero there, which makes its cosine 1/2.
 */
static void
compare(struct pairs *pairs, const float *a, const float *b, int width)
{
	double aa = 0, bb = 0, apart = 0, city = 0, square = 0;

	for (int i = 0; i < width; i++) {
		double x = a[i], y = b[i];
		aa += x * x;
		bb += y * y;
		city += fabs(x - y);
		square += (x - y) * (x - y);
	}
	pairs->zero += (aa == 0) + (bb == 0);
	double scale_a = aa > 0 ? 1 / sqrt(aa) : 0, scale_b = bb > 0 ? 1 / sqrt(bb) : 0;
	for (int i = 0; i < width; i++) {
		double difference = a[i] * scale_a - b[i] * scale_b;
		apart += difference * difference;
	}
	pairs->similarity[COSINE][pairs->count] = (float)(1 - apart / 2);
	pairs->similarity[MANHATTAN][pairs->count] = -(float)city;
	pairs->similarity[EUCLIDEAN][pairs->count] = -(float)sqrt(square);
}

/* A number that the score rests on. */
static double
finite_number(
    const struct reader *reader, int column, const struct record *record, int64_t row)
{
	double value = values_number(reader, column, &record->columns[column], row);

	if (!isfinite(value))
		die("%s: record %lld: %s: row %lld is %g, not a number to correlate",
		    stream_name(reader), (long long)stream_records(reader),
		    stream_column(reader, column)->name, (long long)row + 1, value);
	return value;
}

static int
gold_column(const struct reader *reader)
{
	int gold = stream_find(reader, "score");

	if (gold < 0)
		die("%s: there is no column 'score' with the gold similarities",
		    stream_name(reader));
	values_single(reader, gold, 0);
	return gold;
}

static void
read_embeddings(
    struct pairs *pairs, struct reader *reader, const char *first, const char *second)
{
	int a = values_embedding(reader, first, 0),
	    b = values_embedding(reader, second, 0);
	int width = values_width(reader, a), gold = gold_column(reader);
	struct floats room_a = { 0 }, room_b = { 0 };
	struct record record;

	if (values_width(reader, b) != width)
		die("%s: %s.emb has width %d and %s.emb has %d; encode both with one "
		    "model",
		    stream_name(reader), first, width, second, values_width(reader, b));
	while (stream_next(reader, &record)) {
		const float *x = values_floats(
		    stream_column(reader, a), &record.columns[a], record.rows, &room_a);
		const float *y = values_floats(
		    stream_column(reader, b), &record.columns[b], record.rows, &room_b);
		grow(pairs, record.rows);
		for (int64_t row = 0; row < record.rows; row++, x += width, y += width) {
			values_refuse_nan(reader, a, row, x, width);
			values_refuse_nan(reader, b, row, y, width);
			compare(pairs, x, y, width);
			pairs->gold[pairs->count++] =
			    finite_number(reader, gold, &record, row);
		}
	}
	free(room_a.data);
	free(room_b.data);
}

static void
read_similarity(struct pairs *pairs, struct reader *reader, int similarity)
{
	int gold = gold_column(reader);
	struct record record;

	values_single(reader, similarity, 0);
	while (stream_next(reader, &record)) {
		grow(pairs, record.rows);
		for (int64_t row = 0; row < record.rows; row++) {
			pairs->similarity[0][pairs->count] =
			    finite_number(reader, similarity, &record, row);
			pairs->gold[pairs->count++] =
			    finite_number(reader, gold, &record, row);
		}
	}
}

static void
report_correlations(struct report *report, const struct pairs *pairs, const char *measure,
    const double *similarity)
{
	int64_t n = (int64_t)pairs->count;
	char *name = mem_format("%s_spearman", measure);

	report_score(report, name, stats_spearman(similarity, pairs->gold, n));
	free(name);
	name = mem_format("%s_pearson", measure);
	report_score(report, name, stats_pearson(similarity, pairs->gold, n));
	free(name);
}

void
score_sts(
    struct report *report, struct reader *reader, const char *first, const char *second)
{
	struct pairs pairs = { 0 };
	int similarity = first ? -1 : stream_find(reader, "similarity");

	if (similarity >= 0)
		read_similarity(&pairs, reader, similarity);
	else
		read_embeddings(&pairs, reader, first ? first : "sentence1",
		    first ? second : "sentence2");
	if (pairs.count < 2)
		die("%s: %zu pairs have no correlation; two at least are needed",
		    stream_name(reader), pairs.count);
	if (pairs.zero)
		warn(
		    "%s: %lld embeddings are zero: their cosine counts as 0.5, as in the "
		    "reference",
		    stream_name(reader), (long long)pairs.zero);
	report_set(report, "similarity", "%s", similarity >= 0 ? "given" : "cosine");
	report_set(report, "ties", "mean rank");
	report_set(report, "precision", "%s", similarity >= 0 ? "as given" : "float32");
	report_set(report, "rounding", "none");
	report_set(report, "pairs", "%zu", pairs.count);
	for (int i = 0; i < (similarity >= 0 ? 1 : MEASURES); i++)
		report_correlations(report, &pairs,
		    similarity >= 0 ? "similarity" : measures[i], pairs.similarity[i]);
	report_main(report, similarity >= 0 ? "similarity_spearman" : "cosine_spearman",
	    "all gold scores or all similarities are equal");
	for (int i = 0; i < MEASURES; i++)
		free(pairs.similarity[i]);
	free(pairs.gold);
}
