/*
 * pack - the part of nn_pack that all backends share: smoothing and rows of i8.  Works on host memory.
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

/* smooth[c] as in nn.h, from the absmax of the columns of x and those of the weights. */
void pack_smooth(float *smooth, const float *absmax, const struct pack *from);

/* Of an output's row of i8. */
struct pack_output {
	float scale;
	int32_t sum; /* of its values */
};

/* Divides row[C] by smooth, in place, and quantises it; returns false if it is not finite. */
bool pack_i8(
    int8_t *to, struct pack_output *output, float *row, const float *smooth, size_t C);

/* The outputs o..o+count-1 as i8, bf16 or f32, in rows of `stride` bytes padded with zeros; outputs[count] for i8, else NULL.
 * Returns false if a weight is not finite (f32: never). */
bool pack_rows(void *to, size_t stride, enum dtype kind, struct pack_output *outputs,
    const float *smooth, const struct pack *from, size_t o, size_t count);

#endif
