/*
 * lists - a column of embeddings row by row: each row's list of vectors, or its one vector as a
 * list of one.
 *
 *	struct lists *positive = lists_open(reader, "positive", true);
 *	while (stream_next(reader, &record)) {
 *		lists_load(positive, &record);
 *		for (row...) { struct list list = lists_row(positive, row); ... }
 *	}
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/stream.h"
#include "stream/values.h"

struct lists {
	struct reader *reader; /* borrowed */
	int column, depth, width;
	bool unit;
	int64_t zero; /* vectors of zeros so far */
	const struct array *array;
	const float *vectors; /* of the record that was loaded */
	struct floats room, units;
};

struct list {
	const float *vectors; /* [count, width] */
	int64_t count;
	int width;
};

/* The column FIELD.emb; unit: its vectors made units.  Dies when there is none. */
struct lists *lists_open(struct reader *reader, const char *field, bool unit);

/* Dies when the widths differ. */
void lists_agree(const struct lists *lists, const struct lists *other);

/* Dies on a vector that is not finite. */
void lists_load(struct lists *lists, const struct record *record);
struct list lists_row(const struct lists *lists, int64_t row);

/* Warns of vectors of zeros. */
void lists_close(struct lists *lists);

#endif
