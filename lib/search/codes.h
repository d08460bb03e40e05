/*
 * codes - small forms of vectors, by which a search finds the few that it compares exactly.
 *
 * A column c has a start and a step: codes are u[c] = round((x[c] - start[c]) / step[c]), 0 to 255, as the int8 of
 * sentence-transformers' quantize_embeddings with 128 added (which cuts where this rounds).  A bit is x[c] > centre[c],
 * and stands for centre[c] +- spread[c].
 *
 * By codes a search is exact.  Let y[c] = start[c] + step[c] u[c], and error = |x - y|, which the index stores.  Then
 *	q.x <= q.y + |q| error,	q.y = sum q[c] start[c] + sum (q[c] step[c]) u[c]
 * The last factors are rounded to integers of 15 bits, so that the sum is an int32, exact in any order; the bound counts
 * their rounding.
 */
#ifndef SEARCH_CODES_H
#define SEARCH_CODES_H

#include <stddef.h>
#include <stdint.h>

/* Rows of codes are padded with zeros to whole lines of the cache. */
enum { CODES_ALIGNMENT = 64, CODES_PLANES = 4 };

static inline size_t
codes_stride(int width) /* bytes of a row of codes */
{
	return ((size_t)width + CODES_ALIGNMENT - 1) / CODES_ALIGNMENT * CODES_ALIGNMENT;
}

static inline size_t
codes_words(int width) /* words of a row of bits */
{
	return ((size_t)width + 63) / 64;
}

/* The columns of an index, each array [width]. */
struct code_columns {
	const float *start, *step, *centre, *spread;
};

/* Those of columns [4, width], as code_ranges_end writes them. */
static inline struct code_columns
code_columns(const float *columns, int width)
{
	return (struct code_columns){ columns, columns + width, columns + 2 * width,
		columns + 3 * width };
}

/* Least, greatest, sum and sum of squares of each column. */
struct code_ranges;
struct code_ranges *code_ranges_new(int width);

/* A vector with NaN is ignored. */
void code_ranges_add(struct code_ranges *ranges, const float *x);

/* Writes start, step, centre and spread, [4, width], and frees the ranges. */
void code_ranges_end(struct code_ranges *ranges, float *columns);

/* Writes the codes [codes_stride] and bits [codes_words] of a vector.  Returns its error, infinite if it has NaN. */
float codes_encode(uint8_t *codes, uint64_t *bits, const float *x,
    const struct code_columns *columns, int width);

/* The vector [width] that codes stand for; all NaN if the error is infinite. */
void codes_decode(float *x, const uint8_t *codes, float error,
    const struct code_columns *columns, int width);

/* A query as the sums of codes and bits take it.  code_query_free frees it. */
struct code_query {
	int16_t *words;	    /* [stride], of q[c] step[c] / scale */
	int8_t *high, *low; /* [stride]: words = 128 high + low */
	uint64_t *
	    planes; /* [CODES_PLANES, codes_words], or NULL: two's complement of q[c] spread[c] */
	double scale, base, slack; /* q.x <= base + scale sum + norm error + slack */
	double norm;		   /* |q|; not finite: the bound does not hold */
};
struct code_query code_query_new(
    const float *query, const struct code_columns *columns, int width);

/* Makes the planes, which only the sums of bits read. */
void code_query_planes(struct code_query *query, const float *q,
    const struct code_columns *columns, int width);
void code_query_free(struct code_query *query);

/* sums[r] = sum over c of words[c] codes[r,c] */
typedef void code_sums(int32_t *sums, const struct code_query *query,
    const uint8_t *codes, size_t rows, size_t stride);

/* sums[r] = sum over c of the rounded q[c] spread[c] where bit c of row r is set */
typedef void bit_sums(int32_t *sums, const struct code_query *query, const uint64_t *bits,
    size_t rows, size_t words);

/* The fastest functions on this processor, or those that MOTES_ISA names.  All give the same sums. */
code_sums *code_sums_best(void);
bit_sums *bit_sums_best(void);

#endif
