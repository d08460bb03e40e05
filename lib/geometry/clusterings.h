/*
 * clusterings - the rows of streams put into clusters, once for each column that is looked at: by the labels in it, or
 * by k-means of its vectors.
 *
 * Each stream has all of the columns, or, where none is named, the only embeddings of each are looked at.  Streams
 * have the same rows in the same order, by their ids.
 *
 * Dies on a stream without rows, other rows than in the stream before, a row without a label or with a vector that is not
 * finite, labels that are all the same or of more than 4096 kinds, and more clusters than rows.
 */
#ifndef GEOMETRY_CLUSTERINGS_H
#define GEOMETRY_CLUSTERINGS_H

#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

/* One clustering. */
struct clustering {
	char *name;	       /* the column's or the stream's, or STREAM:COLUMN */
	struct strings *kinds; /* of labels; NULL: vectors */
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

/* The clusters [rows] of one, from 0: its labels in the order in which they came, or those of k-means with batches of 500
 * (kmeans.h) from this seed.  Returns how many clusters there may be, some of them empty. */
int32_t clusterings_assign(const struct clusterings *clusterings, int number,
    int32_t clusters, uint32_t seed, int32_t *to);

void clusterings_free(struct clusterings *clusterings);

#endif
