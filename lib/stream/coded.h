/*
 * coded - vectors in a few bits a number: int8 and ubinary of sentence-transformers' quantize_embeddings.
 *
 *	i8	floor((x - least) / step) in 0..255, minus 128; step = (greatest - least) / 255, or 1 if that is 0;
 *		least and greatest of each component: its range
 *	bit	x > 0; eight in a byte (u8), the first in the highest bit, zeros at the end
 *
 * A code stands for a float: that of i8 for the middle of its step, or for least if the range is empty; a bit for 1 or -1
 * over the square root of the width, so that the vector has length 1.
 *
 * Two properties of the stream belong to a column NAME and go with it (stream.h): NAME.ranges, 2 x width numbers, all least
 * and then all greatest; NAME.bits, the width.  A column of i8 or u8 without them has numbers.
 */
#ifndef STREAM_CODED_H
#define STREAM_CODED_H

#include <stdint.h>

#include "stream/stream.h"
#include "stream/values.h"

struct coded {
	enum dtype dtype; /* of a stored vector: I8, or U8 of bits */
	int width, size;  /* floats; stored elements */
	float *least, *greatest, *step, *middle; /* [width]; NULL: bits */
};

/* The coding of a column of vectors, by the stream's properties; NULL: its elements are numbers.  Dies if the
 * properties do not fit the column. */
struct coded *coded_open(const struct reader *reader, int column);

struct coded *coded_bits(int width);

/* Codes of 8 bits.  The ranges are those of the vectors added, all 0 without any; call coded_ready before coding. */
struct coded *coded_i8(int width);
void coded_calibrate(struct coded *coded, const float *vectors, int64_t count);
void coded_ready(struct coded *coded);

/* Sets the column's properties. */
void coded_tell(const struct coded *coded, struct writer *writer, const char *name);

/* Vectors [count, width] to codes [count, size].  The floats are finite. */
void coded_encode(const struct coded *coded, void *to, const float *from, int64_t count);

/* The `count` vectors of a column in a record as floats [count, width], in `room`; coded: NULL: as values_floats. */
const float *coded_floats(const struct coded *coded, const struct column *column,
    const struct array *array, int64_t count, struct floats *room);
void coded_free(struct coded *coded);

#endif
