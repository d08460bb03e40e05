/*
 * int8 - sums of products of bytes, by what the processor has for them.  The sums are whole numbers:
 * all of them give the same.
 */
#ifndef INT8_H
#define INT8_H

#include <stddef.h>
#include <stdint.h>

#include "nn/nn.h"

enum {
	BYTES_PANEL = 16, /* rows of weights side by side */
	BYTES_DEPTH = 64, /* what K is filled up to a multiple of, with zeros */
	BYTES_WIDTH = 64, /* columns of sums: panels beside each other */
	BYTES_HEIGHT = 32 /* rows of sums, at most */
};

/*
 * sums[rows][BYTES_WIDTH] = x[rows,K] w[columns,K]^T, in the columns of `panels` panels, 1 to 4 of them:
 *	x: unsigned, a row each `stride` bytes, of which BYTES_HEIGHT can be read
 *	w: panel after panel, each [K / 4][BYTES_PANEL][4]
 */
struct int8_kernel {
	const char *name;
	size_t rows; /* at a time, at best */
	void (*sums)(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w,
	    size_t panels, size_t rows, size_t K);
	/* what a thread does before and after its products; may be NULL */
	void (*begin)(void), (*end)(void);
};

/* The best that this processor has, or the one that MOTES_ISA names: amx, avx512, avxvnni, avx2 or plain. */
const struct int8_kernel *int8_kernel(void);

/* y = act(x w^T + bias), or y += x w^T, with a packed matrix; bias and act may be NULL. */
void nn_linear_packed(float *y, size_t ldy, const float *x, size_t ldx,
    struct nn_matrix w, const float *bias, const enum nn_act *act, bool add, size_t T,
    size_t C, size_t O);

#endif
