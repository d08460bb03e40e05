/*
 * row_subset - the vectors of the rows of a stream that a task samples.  A row with a list of vectors counts as that
 * many rows.
 *
 * The sample is drawn after all labels were read.  A regular file is read twice, and only the sampled rows are kept;
 * of a pipe all rows are kept.
 *
 *	struct row_subset subset = row_subset_start(path, vectors);
 *	while (stream_next(reader, &record))
 *		row_subset_add(&subset, vectors, &record);
 *	row_subset_fetch(&subset, path, field, sampled);
 */
#ifndef SCORE_ROW_SUBSET_H
#define SCORE_ROW_SUBSET_H

#include <stdbool.h>
#include <stdint.h>

#include "search/vectors.h"

struct row_subset {
	int64_t rows; /* of the stream */
	int width;
	bool lists;

	/* private */
	bool again;	/* the file can be read a second time */
	float *x;	/* [rows kept, width] */
	size_t room;	/* rows of x */
	int64_t *index; /* [rows]: the row's index in x, or -1; NULL: x has all rows */
};

struct row_subset row_subset_start(const char *path, const struct vectors *vectors);
void row_subset_add(
    struct row_subset *subset, struct vectors *vectors, const struct record *record);

/* Keeps the rows with sampled[row] true; sampled [rows].  Dies when the file has changed since. */
void row_subset_fetch(
    struct row_subset *subset, const char *path, const char *field, const bool *sampled);

/* The vector [width] of a sampled row, borrowed. */
const float *row_subset_row(const struct row_subset *subset, int64_t row);
void row_subset_free(struct row_subset *subset);

#endif
