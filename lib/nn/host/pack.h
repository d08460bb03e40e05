/*
 * pack - what nn_pack makes of weights, as far as it is the same for every backend: rows in bytes and how columns are
 * smoothed.  Host memory alone.
 */
#ifndef NN_HOST_PACK_H
#define NN_HOST_PACK_H

#include "nn/nn.h"

/* A matrix [O,C] of any floating type in host memory, or transposed: [C,O]. */
struct pack {
	const void *at;
	enum dtype dtype;
	bool transposed;
	size_t O, C;
};

/* Row o as floats. */
void pack_row(float *to, const struct pack *from, size_t o);

/* smooth[c] as nn.h has it, from how far the columns of the weights reach. */
void pack_smooth(float *smooth, const float *most, const struct pack *from);

/* An output in bytes. */
struct pack_output {
	float scale;
	int32_t sum; /* of its values */
};

/* A row, which is divided by `smooth` first and lost; false when it is not finite. */
bool pack_bytes(
    int8_t *to, struct pack_output *output, float *row, const float *smooth, size_t C);

/* The outputs o..o+count-1 in rows of `stride` bytes, behind their values zeros: of i8 with what belongs to each in
 * `outputs`, of bf16 and f32.  False when a weight is not finite; of f32 that is never asked. */
bool pack_rows(void *to, size_t stride, enum dtype kind, struct pack_output *outputs,
    const float *smooth, const struct pack *from, size_t o, size_t count);

#endif
