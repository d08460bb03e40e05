#include "score/text_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/values.h"

static const char *const names[TEXT_PAIRS_MEASURES] = { "similarity", "cosine",
	"manhattan", "euclidean", "dot" };

const char *
text_pairs_name(enum text_pairs_measure measure)
{
	return names[measure];
}

struct reading {
	struct reader *reader;
	const struct text_pairs_options *options;
	struct text_pairs *paired;
	size_t room;
	int depth;    /* 0: a pair a row; 1: lists of pairs */
	int sides[2]; /* columns of vectors, or sides[0] of similarities */
	int target;   /* column of numbers */
	int width, sides_count;
	float *units; /* [2, width] */
	int64_t zero;
};

static void
grow(struct reading *reading, int64_t more)
{
	struct text_pairs *paired = reading->paired;
	size_t before = reading->room, need = (size_t)(paired->count + more);

	if (need <= before)
		return;
	paired->target =
	    mem_grow(paired->target, &reading->room, need, sizeof *paired->target);
	for (int i = 0; i < TEXT_PAIRS_MEASURES; i++) {
		size_t same = before;
		paired->similarity[i] = mem_grow(
		    paired->similarity[i], &same, need, sizeof *paired->similarity[i]);
	}
}

static void
compare(struct reading *reading, const float *a, const float *b)
{
	struct text_pairs *paired = reading->paired;
	int width = reading->width;
	enum similarity own = reading->options->own;
	double *const *to = paired->similarity;
	int64_t at = paired->count;
	float *unit = reading->units;

	reading->zero += (similarity_unit(unit, a, width) == 0) +
			 (similarity_unit(unit + width, b, width) == 0);
	to[TEXT_PAIRS_COSINE][at] = similarity_paired_cosine(a, b, width);
	to[TEXT_PAIRS_MANHATTAN][at] = similarity_of(SIMILARITY_MANHATTAN, a, b, width);
	to[TEXT_PAIRS_EUCLIDEAN][at] = similarity_of(SIMILARITY_EUCLIDEAN, a, b, width);
	to[TEXT_PAIRS_DOT][at] = similarity_of(SIMILARITY_DOT, a, b, width);
	to[TEXT_PAIRS_OWN][at] = own == SIMILARITY_COSINE
				     ? similarity_of(own, unit, unit + width, width)
				     : similarity_of(own, a, b, width);
}

/* A number that the score rests on. */
static double
number(const struct reading *reading, int column, const struct record *record, int64_t at)
{
	struct reader *reader = reading->reader;
	double value = values_number(reader, column, &record->columns[column], at);

	if (!isfinite(value))
		die("%s: record %lld: %s: value %lld is %g, not a number to score with",
		    stream_name(reader), (long long)stream_records(reader),
		    stream_column(reader, column)->name, (long long)at + 1, value);
	return value;
}

/* Lists that stand side by side must be equally long. */
static void
check_lists(const struct reading *reading, const struct record *record, int column)
{
	const struct array *first = &record->columns[reading->sides[0]];
	const struct array *other = &record->columns[column];

	for (int64_t row = 0; reading->depth && row < record->rows; row++) {
		int64_t one = first->offsets[0][row + 1] - first->offsets[0][row];
		int64_t two = other->offsets[0][row + 1] - other->offsets[0][row];
		if (one != two)
			die("%s: record %lld: row %lld has %lld in %s and %lld in %s",
			    stream_name(reading->reader),
			    (long long)stream_records(reading->reader),
			    (long long)row + 1, (long long)one,
			    stream_column(reading->reader, reading->sides[0])->name,
			    (long long)two, stream_column(reading->reader, column)->name);
	}
}

static void
take_record(struct reading *reading, const struct record *record, struct floats room[2])
{
	struct reader *reader = reading->reader;
	struct text_pairs *paired = reading->paired;
	const struct array *first = &record->columns[reading->sides[0]];
	int64_t pairs = reading->depth ? first->offsets[0][record->rows] : record->rows;
	const float *sides[2] = { NULL, NULL };

	for (int i = 0; i < 2 && !paired->given; i++) {
		int column = reading->sides[i];
		check_lists(reading, record, column);
		sides[i] = values_floats(stream_column(reader, column),
		    &record->columns[column], pairs, &room[i]);
	}
	check_lists(reading, record, reading->target);
	grow(reading, pairs);
	for (int64_t i = 0; i < pairs; i++) {
		if (paired->given) {
			paired->similarity[TEXT_PAIRS_OWN][paired->count] =
			    number(reading, reading->sides[0], record, i);
		} else {
			const float *a = sides[0] + i * reading->width;
			const float *b = sides[1] + i * reading->width;
			values_refuse_nan(
			    reader, reading->sides[0], i, a, reading->width);
			values_refuse_nan(
			    reader, reading->sides[1], i, b, reading->width);
			compare(reading, a, b);
		}
		paired->target[paired->count++] =
		    number(reading, reading->target, record, i);
	}
}

static void
find_vectors(struct reading *reading)
{
	static const char *const usual[2][2] = { { "sentence1", "sentence2" },
		{ "sent1", "sent2" } };
	struct reader *reader = reading->reader;
	const char *const *fields = reading->options->fields;
	int old = !fields[0] && stream_find(reader, "sentence1.emb") < 0 &&
		  stream_find(reader, "sent1.emb") >= 0;

	if (!fields[0])
		fields = usual[old];
	reading->depth = values_find_embedding(reader, fields[0], 0) < 0 &&
			 values_find_embedding(reader, fields[0], 1) >= 0;
	for (int i = 0; i < 2; i++)
		reading->sides[i] = values_embedding(reader, fields[i], reading->depth);
	reading->width = values_width(reader, reading->sides[0]);
	int other = values_width(reader, reading->sides[1]);
	if (other != reading->width)
		die("%s: %s.emb has width %d and %s.emb has %d; encode both with one "
		    "model",
		    stream_name(reader), fields[0], reading->width, fields[1], other);
	reading->units = mem_new(2 * (size_t)reading->width, sizeof *reading->units);
}

struct text_pairs *
text_pairs_read(struct reader *reader, const struct text_pairs_options *options)
{
	struct text_pairs *paired = mem_zero(1, sizeof *paired);
	struct reading reading = { reader, options, paired, .depth = 0 };
	struct floats room[2] = { { 0 }, { 0 } };
	struct record record;
	int given = options->fields[0] ? -1 : stream_find(reader, "similarity");

	paired->given = given >= 0;
	if (paired->given) {
		reading.sides[0] = given;
		values_single(reader, given, 0);
	} else {
		find_vectors(&reading);
	}
	reading.target = values_find(reader, options->targets);
	if (reading.target < 0)
		die("%s: there is no column '%s' with the %s", stream_name(reader),
		    options->targets[0], options->what);
	values_single(reader, reading.target, reading.depth);
	while (stream_next(reader, &record))
		take_record(&reading, &record, room);
	if (reading.zero)
		warn(
		    "%s: %lld embeddings are zero: their cosine counts as 0.5, as in the "
		    "reference",
		    stream_name(reader), (long long)reading.zero);
	for (int i = 0; i < 2; i++)
		free(room[i].data);
	free(reading.units);
	return paired;
}

void
text_pairs_free(struct text_pairs *paired)
{
	for (int i = 0; i < TEXT_PAIRS_MEASURES; i++)
		free(paired->similarity[i]);
	free(paired->target);
	free(paired);
}
