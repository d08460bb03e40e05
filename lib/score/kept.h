/*
 * kept - the vectors of those rows of a stream that a task draws; where rows have lists of vectors, each of a
 * list counts as a row.
 *
 * Which are drawn is known when all labels were read.  So a file is read again, and what was drawn
 * is kept; of a pipe all is.
 *
 *	struct kept kept = kept_start(path, vectors);
 *	while (stream_next(reader, &record))
 *		kept_add(&kept, vectors, &record);
 *	kept_fetch(&kept, path, field, wanted);
 */
#ifndef SCORE_KEPT_H
#define SCORE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "search/vectors.h"

struct kept {
	int64_t rows; /* of the stream */
	int width;
	bool lists;

	/* its own affairs */
	bool again;
	float *x;
	size_t room;
	int64_t *place; /* [rows]: in x, or -1; NULL: all rows are there */
};

struct kept kept_start(const char *path, const struct vectors *vectors);
void kept_add(struct kept *kept, struct vectors *vectors, const struct record *record);

/* Keep the rows that are wanted [rows].  Dies when the file has changed. */
void kept_fetch(
    struct kept *kept, const char *path, const char *field, const bool *wanted);

/* The vector of a row that is wanted. */
const float *kept_row(const struct kept *kept, int64_t row);
void kept_free(struct kept *kept);

#endif
