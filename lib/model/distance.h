/*
 * distance - biases that attention adds to a score by the distance n = |i - j| of key and query, made for each batch.
 *
 * Learned (T5): a table with a row for each bucket and a column for each head, for all blocks or one for each.  With H half of
 * the buckets and E = H / 2, the bucket of n is
 *	n								below E
 *	min(H - 1, E + floor(ln(n / E) / ln(farthest / E) (H - E)))	from E on
 * plus H if the key comes after the query.
 *
 * ALiBi:  -slope[h] n,  slope[h] = 2^(-8 (h + 1) / heads)  if heads is a power of two; else of the next lower power of two,
 * then every second slope of twice that many.
 */
#ifndef MODEL_DISTANCE_H
#define MODEL_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"
#include "model/workspace.h"

/* In memory of the kernels; NULL: the model has none. */
struct distance {
	int32_t *
	    buckets; /* [2 longest], as nn_position_bias or nn_relative (relative.h) reads them */
	float *bias;  /* [heads, 2 longest] */
	float *dbias; /* [2 T heads]; NULL: not wanted */
};

/* For a batch of T tokens whose longest text has `longest`; learns: with dbias. */
void distance_layout(struct distance *distance, struct workspace *workspace,
    const struct spec *spec, size_t T, size_t longest, bool learns);
void distance_upload(
    const struct distance *distance, const struct spec *spec, size_t longest);

/* Biases from a table, before the blocks that share it. */
void distance_forward(const struct distance *distance, const struct spec *spec,
    struct nn_matrix table, const struct nn_sequences *sequences);

/* Before the backward pass of these blocks dbias is cleared, after it added to dtable. */
void distance_clear(const struct distance *distance, const struct spec *spec, size_t T);
void distance_backward(const struct distance *distance, const struct spec *spec,
    float *dtable, const struct nn_sequences *sequences);

#endif
