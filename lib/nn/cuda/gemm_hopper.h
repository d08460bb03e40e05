/*
 * gemm_hopper - matrix products of bf16 with fused epilogues on compute capability 9.0: one launch for several weights (q, k and v),
 * for a gated pair, or for groups of rows with weights of their own (token experts).
 *
 *	y = epilogue(x w^T + bias)
 *
 * x[rows,C], w[O,C] and y are bf16, sums f32.  The order of a sum depends on C alone, so a row has the same bits in every batch.
 * The activation is right to 2^-11 of it before y is rounded; GELU below -5.5 to 1.1e-7.
 */
#ifndef NN_CUDA_GEMM_HOPPER_H
#define NN_CUDA_GEMM_HOPPER_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/nn.h"

enum hopper_epilogue {
	HOPPER_PLAIN,	 /* the sum */
	HOPPER_ACTIVATE, /* act(sum) */
	HOPPER_GATED,	 /* sum act(the gate's sum) */
};

/* The next rows of x, or with `again` those of the part before, times one weight. */
struct hopper_part {
	const void *w, *gate;	       /* [O,C]; gate only if HOPPER_GATED */
	const float *bias, *gate_bias; /* [O], or NULL */
	size_t rows, O;
	size_t column; /* of y, where the first of the O results of a row goes */
	bool again;
};

struct hopper_gemm {
	void *y;
	const void *x;
	size_t ldy, ldx, ldw, C; /* strides in elements; ldw of all weights */
	const struct hopper_part
	    *parts; /* in host memory, read before the call returns */
	size_t count;
	enum hopper_epilogue epilogue;
	enum nn_act act;
	unsigned wide; /* columns of a tile, 128 or 192; 0: chosen by the sizes */
};

/*
 * False if this device, activation or alignment is not served: addresses of x, y and weights must be multiples of 16 bytes (of
 * biases, 8), strides, O and columns multiples of 8.
 */
bool hopper_supports(const struct hopper_gemm *p);

/* Writes the O columns of each part in its rows, nothing else.  Dies unless hopper_supports(p). */
void hopper_gemm(const struct hopper_gemm *p);

#endif
