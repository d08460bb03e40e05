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
 *	row_subset_want(&subset, drawn, count);
 *	row_subset_fetch(&subset, path, field);
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
	bool again;  /* the file can be read a second time */
	float *x;    /* [rows kept, width] */
	size_t room; /* rows of x */
	/* [rows]: the row's index in x, or -1; until the rows are read 1 if it is chosen, else 0; NULL: x has all rows */
	int64_t *index;
};

struct row_subset row_subset_start(const char *path, const struct vectors *vectors);
void row_subset_add(
    struct row_subset *subset, struct vectors *vectors, const struct record *record);

/* Chooses rows [count] to keep, beside those chosen before. */
void row_subset_want(struct row_subset *subset, const int64_t *rows, int64_t count);

/* Reads the vectors of the chosen rows.  Dies when the file has changed since. */
void row_subset_fetch(struct row_subset *subset, const char *path, const char *field);

/* The vector [width] of a sampled row, borrowed. */
const float *row_subset_row(const struct row_subset *subset, int64_t row);

/* Those of several rows [count], one after another, to be freed. */
float *row_subset_gather(
    const struct row_subset *subset, const int64_t *rows, int64_t count);
void row_subset_free(struct row_subset *subset);

#endif
