#include "score/text_pairs.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/labels.h"
#include "search/vectors.h"

static const char *const names[TEXT_PAIRS_MEASURES] = { "similarity", "cosine",
	"manhattan", "euclidean", "dot" };

const char *
text_pairs_name(enum text_pairs_measure measure)
{
	return names[measure];
}

struct pair_reader {
	struct reader *reader;
	struct text_pairs *pairs;
	struct per_query *per_query;
	struct vectors *sides[2]; /* or: */
	int given;		  /* column of similarities */
	int target;		  /* column of numbers */
};

static void
compare(struct pair_reader *reading, int64_t pair)
{
	static const struct {
		enum text_pairs_measure measure;
		enum similarity kind;
	} others[] = { { TEXT_PAIRS_MANHATTAN, SIMILARITY_MANHATTAN },
		{ TEXT_PAIRS_EUCLIDEAN, SIMILARITY_EUCLIDEAN },
		{ TEXT_PAIRS_DOT, SIMILARITY_DOT } };
	const struct vectors *one = reading->sides[0], *two = reading->sides[1];
	struct series *to = reading->pairs->similarity;
	int width = one->width;
	int64_t skip = pair * width;
	const float *a = one->raw + skip, *b = two->raw + skip;

	series_add(&to[TEXT_PAIRS_COSINE], similarity_paired_cosine(a, b, width));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		series_add(&to[others[i].measure],
		    vectors_similarity(others[i].kind, one, pair, two, pair));
	series_add(&to[TEXT_PAIRS_OWN],
	    vectors_similarity(reading->pairs->own, one, pair, two, pair));
}

static double
number(const struct pair_reader *reading, int column, const struct record *record,
    int64_t at)
{
	return labels_finite(reading->reader, column, record, at, "to score with");
}

static void
take_record(struct pair_reader *reading, const struct record *record)
{
	struct text_pairs *pairs = reading->pairs;
	int64_t count = record->rows;

	if (!pairs->given) {
		for (int i = 0; i < 2; i++)
			vectors_load(reading->sides[i], record);
		count = reading->sides[0]->count;
		if (reading->sides[0]->lists) {
			int first = reading->sides[0]->column;
			values_same_lengths(
			    reading->reader, record, first, reading->sides[1]->column);
			values_same_lengths(
			    reading->reader, record, first, reading->target);
		}
	}
	bool lists = !pairs->given && reading->sides[0]->lists;
	for (int64_t i = 0; i < count; i++) {
		per_query_add_row(reading->per_query, reading->reader,
		    lists ? NULL : record, i, pairs->count + 1);
		if (pairs->given)
			series_add(&pairs->similarity[TEXT_PAIRS_OWN],
			    number(reading, reading->given, record, i));
		else
			compare(reading, i);
		series_add(&pairs->target, number(reading, reading->target, record, i));
		pairs->count++;
	}
}

void
text_pairs_open(
    struct reader *reader, const char *const *fields, struct vectors *sides[2])
{
	static const char *const usual[2][2] = { { "sentence1", "sentence2" },
		{ "sent1", "sent2" } };
	int old = stream_find(reader, "sentence1.emb") < 0 &&
		  stream_find(reader, "sent1.emb") >= 0;

	if (!fields[0])
		fields = usual[old];
	for (int i = 0; i < 2; i++) {
		int lists = i == 0 || sides[0]->lists ? VECTORS_LISTS : 0;
		sides[i] = vectors_open(reader, fields[i], VECTORS_UNITS | lists);
	}
	if (sides[0]->lists && !sides[1]->lists)
		values_embedding(reader, fields[1], 1);
	vectors_agree(sides[0], sides[1], false);
}

static void
close_vectors(struct pair_reader *reading)
{
	int64_t zero = reading->sides[0]->zero + reading->sides[1]->zero;

	if (zero)
		warn(
		    "%s: %lld embeddings are zero: their cosine counts as 0.5, as in the reference",
		    stream_name(reading->reader), (long long)zero);
	for (int i = 0; i < 2; i++)
		vectors_close(reading->sides[i]);
}

struct text_pairs *
text_pairs_read(
    const struct score_options *options, const char *const *targets, const char *what)
{
	struct text_pairs *pairs = mem_zero(1, sizeof *pairs);
	struct reader *reader = stream_open(options->files[0]);
	struct pair_reader reading = { .reader = reader,
		.pairs = pairs,
		.per_query = options->per_query,
		.given = options->fields[0] ? -1 : stream_find(reader, "similarity"),
		.target = values_find(reader, targets) };
	struct record record;

	pairs->stream = mem_string(stream_name(reader));
	pairs->given = reading.given >= 0;
	if (pairs->given)
		values_single(reader, reading.given, 0);
	else
		text_pairs_open(reader, options->fields, reading.sides);
	if (!pairs->given)
		pairs->own = vectors_own_similarity(reader, options->similarity);
	if (reading.target < 0)
		die("%s: there is no column '%s' with the %s", stream_name(reader),
		    targets[0], what);
	values_single(reader, reading.target, !pairs->given && reading.sides[0]->lists);
	while (stream_next(reader, &record))
		take_record(&reading, &record);
	if (!pairs->given)
		close_vectors(&reading);
	if (pairs->count < 2)
		die("%s: %lld pairs; two at least are needed", stream_name(reader),
		    (long long)pairs->count);
	stream_close(reader);
	return pairs;
}

void
text_pairs_describe(
    const struct text_pairs *pairs, struct report *report, const char *ties)
{
	report_set(report, "similarity", "%s",
	    pairs->given ? "given" : similarity_name(pairs->own));
	report_set(report, "ties", "%s", ties);
	report_set(report, "precision", "%s", pairs->given ? "as given" : "float32");
	report_set(report, "rounding", "none");
	report_set(report, "pairs", "%lld", (long long)pairs->count);
}

void
text_pairs_free(struct text_pairs *pairs)
{
	for (int i = 0; i < TEXT_PAIRS_MEASURES; i++)
		free(pairs->similarity[i].at);
	free(pairs->target.at);
	free(pairs->stream);
	free(pairs);
}
