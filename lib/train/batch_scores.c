#include "train/batch_scores.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/values.h"

static const char *const names[] = { "document.score", "negatives.score" };

/* The column of a side's scores; -1: there is none.  labels: other names will do. */
static int
find(const struct reader *reader, int side, bool labels)
{
	static const char *const others[] = { "pair.score", "label" };
	int found = stream_find(reader, names[side]);

	for (size_t i = 0; labels && !side && found < 0 && i < 2; i++)
		found = stream_find(reader, others[i]);
	return found;
}

void
batch_scores_open(
    struct batch_scores *scores, const struct reader *reader, int ids, bool pairs)
{
	scores->ids = ids;
	for (int side = 0; side < 2; side++)
		scores->columns[side] =
		    side && ids < 0 ? -1 : find(reader, side, pairs && ids < 0);
	if (pairs && ids >= 0 && scores->columns[0] < 0 && scores->columns[1] < 0)
		return;
	for (int side = 0; side < 2; side++) {
		if (side && ids < 0)
			continue;
		if (scores->columns[side] < 0 && pairs && ids < 0)
			die("%s: there is no column \"label\" or \"pair.score\", the labels of the pairs",
			    stream_name(reader));
		if (scores->columns[side] < 0)
			die("%s: there is no column \"%s\", the scores of the %s; the recipe's '%s' makes it",
			    stream_name(reader), names[side],
			    side ? "negatives" : "pairs",
			    side ? "negative_scores" : "score");
		values_single(reader, scores->columns[side],
		    side && stream_column(reader, ids)->depth > 1);
	}
}

/* The number of negatives of rows before `row`. */
static int64_t
negatives_before(const struct batch_scores *scores, const struct reader *reader,
    const struct record *record, int64_t row)
{
	const struct column *ids =
	    scores->ids < 0 ? NULL : stream_column(reader, scores->ids);

	if (!ids || ids->depth < 2)
		return ids ? row : 0;
	return record->columns[scores->ids].offsets[0][row];
}

static double
number(const struct batch_scores *scores, const struct reader *reader,
    const struct record *record, int side, int64_t index)
{
	int column = scores->columns[side];
	if (column < 0)
		return !side;
	double value = values_number(reader, column, &record->columns[column], index);

	if (!isfinite(value))
		die("%s: record %lld: %s: value %lld is missing or not finite",
		    stream_name(reader), (long long)stream_records(reader),
		    stream_column(reader, column)->name, (long long)index + 1);
	return value;
}

/* Dies unless every negative has one score. */
static void
check_negatives(const struct batch_scores *scores, const struct reader *reader,
    const struct record *record)
{
	int column = scores->columns[1];

	if (column < 0 || stream_column(reader, scores->ids)->depth < 2)
		return;
	for (int64_t row = 0; row <= record->rows; row++)
		if (values_start(stream_column(reader, column), &record->columns[column],
			row) != negatives_before(scores, reader, record, row))
			die("%s: record %lld: row %lld does not have one score for each negative",
			    stream_name(reader), (long long)stream_records(reader),
			    (long long)row);
}

void
batch_scores_take_rows(
    struct batch_scores *scores, const struct reader *reader, const struct record *record)
{
	int64_t negatives = negatives_before(scores, reader, record, record->rows);

	scores->rows = mem_grow(
	    scores->rows, &scores->rows_room, (size_t)negatives, sizeof *scores->rows);
	for (int64_t row = 0, k = 0; row < record->rows; row++)
		for (; k < negatives_before(scores, reader, record, row + 1); k++)
			scores->rows[k] = row;
}

void
batch_scores_take(
    struct batch_scores *scores, const struct reader *reader, const struct record *record)
{
	int64_t rows = record->rows;
	int64_t negatives = negatives_before(scores, reader, record, rows);

	check_negatives(scores, reader, record);
	scores->values = mem_grow(scores->values, &scores->values_room,
	    (size_t)(rows + negatives), sizeof *scores->values);
	batch_scores_take_rows(scores, reader, record);
	for (int64_t row = 0; row < rows; row++)
		scores->values[row] = number(scores, reader, record, 0, row);
	for (int64_t k = 0; k < negatives; k++)
		scores->values[rows + k] = number(scores, reader, record, 1, k);
}

void
batch_scores_free(struct batch_scores *scores)
{
	free(scores->values);
	free(scores->rows);
}
