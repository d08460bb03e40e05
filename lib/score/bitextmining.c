#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/confusion.h"
#include "score/score.h"
#include "score/text_pairs.h"
#include "search/search.h"
#include "search/vectors.h"

/* One side's vectors: unit vectors for cosine. */
struct side {
	float *at; /* [count, width] */
	size_t room;
	int64_t count;
	double longest; /* length */
};

struct bitext {
	struct reader *reader;
	struct vectors *vectors[2];
	int gold_column; /* -1: none */
	enum similarity similarity;
	struct side sides[2];
	int32_t *gold; /* [sides[0].count]: number of the right sentence2 */
	size_t gold_room;
	int width;
};

static double
length_of(const float *vector, int width)
{
	return sqrt(similarity_dot(vector, vector, width));
}

static void
take_vectors(struct bitext *bitext, int which)
{
	const struct vectors *vectors = bitext->vectors[which];
	struct side *side = &bitext->sides[which];
	const float *from =
	    bitext->similarity == SIMILARITY_COSINE ? vectors->units : vectors->raw;
	size_t row = (size_t)bitext->width * sizeof *side->at;

	if (side->count + vectors->count > INT32_MAX)
		die("%s: more than %d sentences", stream_name(bitext->reader), INT32_MAX);
	side->at =
	    mem_grow(side->at, &side->room, (size_t)(side->count + vectors->count), row);
	if (vectors->count)
		memcpy(side->at + side->count * bitext->width, from,
		    (size_t)vectors->count * row);
	for (int64_t i = 0; i < vectors->count; i++)
		side->longest = fmax(
		    side->longest, length_of(from + i * bitext->width, bitext->width));
	side->count += vectors->count;
}

/* Appends the gold numbers of `count` sentences, by default their own. */
static void
take_gold(struct bitext *bitext, const struct record *record, int64_t count)
{
	int64_t before = bitext->sides[0].count - count;

	bitext->gold = mem_grow(bitext->gold, &bitext->gold_room,
	    (size_t)(before + count), sizeof *bitext->gold);
	for (int64_t i = 0; i < count; i++) {
		double number = (double)(before + i);
		if (bitext->gold_column >= 0)
			number = values_number(bitext->reader, bitext->gold_column,
			    &record->columns[bitext->gold_column], i);
		if (!(number >= 0 && number <= INT32_MAX && number == trunc(number)))
			die("%s: record %lld: gold: value %lld is %g, not the number of a sentence2, from 0",
			    stream_name(bitext->reader),
			    (long long)stream_records(bitext->reader), (long long)i + 1,
			    number);
		bitext->gold[before + i] = (int32_t)number;
	}
}

static void
check_lengths(const struct bitext *bitext, const struct record *record)
{
	int one = bitext->vectors[0]->column;

	if (bitext->vectors[0]->lists)
		values_same_lengths(bitext->reader, record, one,
		    bitext->gold_column >= 0 ? bitext->gold_column
					     : bitext->vectors[1]->column);
}

static void
read_sides(struct bitext *bitext, const struct score_options *options)
{
	struct per_query *per_query = options->per_query;
	bool lists = bitext->vectors[0]->lists;
	struct record record;

	while (stream_next(bitext->reader, &record)) {
		int64_t before = bitext->sides[0].count;
		for (int i = 0; i < 2; i++)
			vectors_load(bitext->vectors[i], &record);
		check_lengths(bitext, &record);
		for (int i = 0; i < 2; i++)
			take_vectors(bitext, i);
		int64_t count = bitext->sides[0].count - before;
		take_gold(bitext, &record, count);
		for (int64_t i = 0; i < count; i++)
			per_query_add_row(per_query, bitext->reader,
			    lists ? NULL : &record, i, before + i + 1);
	}
}

static void
check_sides(const struct bitext *bitext)
{
	const struct side *sides = bitext->sides;
	const char *name = stream_name(bitext->reader);

	if (!sides[0].count || !sides[1].count)
		die("%s: there is no pair in it", name);
	if (sides[0].longest * sides[1].longest > FLT_MAX)
		die("%s: a dot product may exceed float32: the longest vectors are %g and %g long; scale the vectors, or compare by --similarity cosine",
		    name, sides[0].longest, sides[1].longest);
	for (int64_t i = 0; i < sides[0].count; i++)
		if (bitext->gold[i] >= sides[1].count)
			die("%s: gold: the sentence1 %lld has the sentence2 %lld, counted from 0; there are only %lld",
			    name, (long long)i + 1, (long long)bitext->gold[i],
			    (long long)sides[1].count);
}

/* The nearest sentence2 of each sentence1, to be freed.  The documents go in blocks, so that a GPU need not hold all. */
static int32_t *
find_nearest(const struct bitext *bitext)
{
	enum { BLOCK_BYTES = 16 << 20 };
	const struct side *queries = &bitext->sides[0], *documents = &bitext->sides[1];
	int64_t count = queries->count, width = bitext->width;
	int64_t block = BLOCK_BYTES / (width * (int64_t)sizeof(float)) + 1;
	int32_t *nearest = mem_new((size_t)count, sizeof *nearest);
	struct hits *hits = mem_new((size_t)count, sizeof *hits);
	struct search *search =
	    search_new(queries->at, count, bitext->width, 1, -INFINITY, NULL, NULL);

	for (int64_t first = 0; first < documents->count; first += block) {
		int64_t left = documents->count - first;
		search_add(search, documents->at + first * width,
		    left < block ? left : block, documents->longest);
	}
	struct hit *memory = search_finish(search, hits);
	for (int64_t i = 0; i < count; i++)
		nearest[i] = (int32_t)hits[i].at[0].document;
	free(memory);
	free(hits);
	return nearest;
}

static void
measure(const struct bitext *bitext, struct report *report,
    const struct score_options *options)
{
	int64_t count = bitext->sides[0].count;
	int32_t *nearest = find_nearest(bitext);
	struct confusion found = confusion_measure(
	    bitext->gold, nearest, count, (int32_t)bitext->sides[1].count);

	report_score(report, found.precision_weighted, "precision");
	report_score(report, found.recall_weighted, "recall");
	report_score(report, found.f1_weighted, "f1");
	report_score(report, found.accuracy, "accuracy");
	report_main(report, "f1", "there is no pair");
	if (options->per_query) {
		double *right = mem_new((size_t)count, sizeof *right);
		for (int64_t i = 0; i < count; i++)
			right[i] = nearest[i] == bitext->gold[i];
		per_query_column(options->per_query, right, "accuracy");
		free(right);
	}
	free(nearest);
}

void
score_bitextmining(struct report *report, const struct score_options *options)
{
	struct reader *reader = stream_open(options->files[0]);
	struct bitext bitext = { .reader = reader,
		.gold_column = stream_find(reader, "gold"),
		.similarity = vectors_own_similarity(reader, options->similarity) };

	if (bitext.similarity > SIMILARITY_DOT)
		die("%s: its model compares by %s; say --similarity cosine or dot",
		    stream_name(reader), similarity_name(bitext.similarity));
	text_pairs_open(reader, options->fields, bitext.vectors);
	bitext.width = bitext.vectors[0]->width;
	if (bitext.gold_column >= 0)
		values_single(reader, bitext.gold_column, bitext.vectors[0]->lists);
	read_sides(&bitext, options);
	check_sides(&bitext);
	report_set(report, "similarity", "%s", similarity_name(bitext.similarity));
	report_set(report, "ties", "the first sentence2");
	report_set(report, "precision", "float32");
	report_set(report, "rounding", "none");
	report_set(report, "gold", "%s", bitext.gold_column >= 0 ? "given" : "the row");
	report_set(report, "pairs", "%lld", (long long)bitext.sides[0].count);
	measure(&bitext, report, options);
	for (int i = 0; i < 2; i++) {
		vectors_warn_zero(bitext.vectors[i], "their cosines are 0");
		vectors_close(bitext.vectors[i]);
		free(bitext.sides[i].at);
	}
	free(bitext.gold);
	stream_close(reader);
}
