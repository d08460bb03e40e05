/*
 * clusterings - one clustering of the rows of streams for each column: by its labels, or by k-means of its vectors.
 *
 * Each stream must have all named columns; without names the only embeddings of each are used.  Streams must have the same rows in
 * the same order, by id.
 *
 * Dies on a stream without rows, rows that differ from the first stream's, a row without a label, a vector that is not finite, one
 * label for all rows, more than 4096 labels, and more clusters than rows.
 */
#ifndef GEOMETRY_CLUSTERINGS_H
#define GEOMETRY_CLUSTERINGS_H

#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

struct clustering {
	char *name;	       /* the column's or the stream's, or STREAM:COLUMN */
	struct strings *kinds; /* distinct labels; NULL: vectors */
	int32_t *label;	       /* [rows] */
	float *x;	       /* [rows,width] */
	int width;
	size_t capacity;
};

struct clusterings {
	struct clustering *list;
	int count;
	int64_t rows;
};

struct clusterings_options {
	const char *const *labels, *const *fields; /* columns */
	int label_count, field_count;
	int clusters; /* of k-means */

	/* called with each record of the first stream, unless NULL */
	void (*look)(
	    void *with, const struct reader *reader, const struct record *record);
	void *with;
};

struct clusterings *clusterings_read(
    const char *const *paths, int count, const struct clusterings_options *options);

/* to[rows]: the cluster of each row, from 0: labels numbered as they first occur, or k-means with batches of 500 (kmeans.h) from this
 * seed.  Returns the number of clusters; some may be empty. */
int32_t clusterings_assign(const struct clusterings *clusterings, int number,
    int32_t clusters, uint32_t seed, int32_t *to);

void clusterings_free(struct clusterings *clusterings);

#endif
