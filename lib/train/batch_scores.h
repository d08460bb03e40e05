/*
 * batch_scores - the scores of a batch's pairs, and the row that each negative belongs to.
 *
 *	document.score		a number a row		of its query and document
 *	negatives.score		a list of numbers a row	of its query and its negatives; needed if there are negatives
 * Numbers are of any type, or texts of numbers.  Pairs for a cross-encoder without negatives may have "pair.score" or "label"
 * instead of document.score.  With negatives, but without scores of either side, documents have 1 and negatives 0.
 */
#ifndef TRAIN_BATCH_SCORES_H
#define TRAIN_BATCH_SCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

struct batch_scores {
	/* documents' and negatives', negatives.ids; -1: none */
	int columns[2], ids;
	/* of the last record */
	double *values; /* [rows + negatives] */
	int64_t *rows;	/* [negatives], ascending */
	size_t values_room, rows_room;
};

/* Finds the columns; dies if one is missing.  ids: the column negatives.ids; -1: none.  pairs: of a cross-encoder. */
void batch_scores_open(
    struct batch_scores *scores, const struct reader *reader, int ids, bool pairs);

/* Dies, naming the record, if a score is missing or no number. */
void batch_scores_take(struct batch_scores *scores, const struct reader *reader,
    const struct record *record);

/* Sets `rows` alone; only the column `ids` is read. */
void batch_scores_take_rows(struct batch_scores *scores, const struct reader *reader,
    const struct record *record);
void batch_scores_free(struct batch_scores *scores);

#endif
