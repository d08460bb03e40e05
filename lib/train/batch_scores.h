/*
 * batch_scores - the scores of a batch's pairs, and the row that each negative belongs to.
 *
 *	document.score		a number a row		of its query and document
 *	negatives.score		a list of numbers a row	of its query and its negatives; needed if there are negatives
 * Numbers are of any type, or texts of numbers.
 */
#ifndef TRAIN_BATCH_SCORES_H
#define TRAIN_BATCH_SCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

struct batch_scores {
	int columns[2], ids; /* documents' and negatives'; negatives.ids; -1: none */
	/* of the last record */
	double *values; /* [rows + negatives] */
	int64_t *rows;	/* [negatives], ascending */
	uint64_t hash;	/* sum over rows, the same however rows are divided */
	size_t values_room, rows_room;
};

/* Finds the columns; dies if one is missing.  ids: the column negatives.ids; -1: none. */
void batch_scores_open(struct batch_scores *scores, const struct reader *reader, int ids);

/* Dies, naming the record, if a score is missing or no number. */
void batch_scores_take(struct batch_scores *scores, const struct reader *reader,
    const struct record *record);
void batch_scores_free(struct batch_scores *scores);

#endif
