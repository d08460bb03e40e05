/*
 * distance - what attention adds to scores by how far a key is from its query, made for each batch.
 *
 * Of a table that is learned, a row for each bucket and a column for each head, which all blocks share or each has; of
 * n = |i - j|, with H half of the buckets and E half of those,
 *	n				below E
 *	min(H - 1, E + floor(ln(n / E) / ln(farthest / E) (H - E)))	from there on
 * and H more where the key comes after the query.  Of slopes,
 *	-slope[h] n,  slope[h] = 2^(-8 (h + 1) / heads)
 * for heads a power of two; of others, that many below them, then every second one of twice as many.
 */
#ifndef MODEL_DISTANCE_H
#define MODEL_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"
#include "model/workspace.h"

/* In memory of the kernels; NULL: the model has no such thing. */
struct distance {
	int32_t *buckets; /* [2 longest], as nn_position_bias reads them */
	float *bias;	  /* [heads, 2 longest] */
	float *dbias;	  /* [2 T heads]; NULL: not wanted either */
};

/* Of a batch of T tokens, its longest text of so many; learns: for a backward. */
void distance_layout(struct distance *distance, struct workspace *workspace,
    const struct spec *spec, size_t T, size_t longest, bool learns);
void distance_upload(
    const struct distance *distance, const struct spec *spec, size_t longest);

/* Before the blocks that share a table; after them, from what they added to dbias, which they find cleared. */
void distance_forward(const struct distance *distance, const struct spec *spec,
    struct nn_matrix table, const struct nn_sequences *sequences);
void distance_clear(const struct distance *distance, const struct spec *spec, size_t T);
void distance_backward(const struct distance *distance, const struct spec *spec,
    float *dtable, const struct nn_sequences *sequences);

#endif
