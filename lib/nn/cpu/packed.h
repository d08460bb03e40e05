/*
 * packed - linear layers in fewer bits than floats have: what nn_pack makes, and sums of products by what the
 * processor has for them.
 */
#ifndef NN_CPU_PACKED_H
#define NN_CPU_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "nn/nn.h"

enum {
	PACKED_PANEL = 16, /* rows of weights side by side */
	PACKED_DEPTH =
	    64, /* bytes of which a row has a multiple, the last of them zeros */
	PACKED_WIDTH = 64, /* columns of sums: panels beside each other */
	PACKED_SQUARE =
	    16, /* rows that are read together, whether all of them count or not */
	PACKED_HEIGHT = 32 /* rows of sums, at most */
};

/* Of bytes whole numbers, of bf16 floats. */
union packed_sum {
	int32_t whole;
	float real;
};

/*
 * sums[rows][PACKED_WIDTH] = x w^T, in the columns of `panels` panels, 1 to 4 of them; x and w have rows of `depth`
 * bytes, of unsigned bytes times signed ones or of bf16:
 *	x: a row each `depth` bytes, of which whole PACKED_SQUAREs can be read
 *	w: panel after panel, each [depth / 4][PACKED_PANEL][4 bytes]
 * Those of bytes are exact and so the same with each; those of bf16 are not, but no sum depends on the other rows.
 */
struct packed_kernel {
	const char *name;
	enum dtype dtype;
	size_t rows; /* at a time, at best */
	/* whose layers a thread is best at: what is read of the weights must be worth it, and what a layer makes of them is
	 * to stay in the second cache where its time counts beside that of such products */
	size_t tokens;
	void (*sums)(union packed_sum *sums, const char *x, const char *w, size_t panels,
	    size_t rows, size_t depth);
	/* what a thread does before and after its products; may be NULL */
	void (*begin)(void), (*end)(void);
};

/* The best that this processor has, or the one that MOTES_ISA names: amx, avx512, avxvnni, avx2 or plain.  Of bf16
 * NULL where floats are as quick. */
const struct packed_kernel *packed_kernel(enum dtype dtype);

/* What nn_pack makes of floats, for product.c: so many of them, in panels of as many columns as a tile has; transposed as there. */
size_t nn_packed_floats(size_t O, size_t C);
void nn_pack_floats(float *to, struct nn_matrix w, bool transposed, size_t O, size_t C);

/* y = act(x w^T + bias), or y += x w^T, with a packed matrix; bias and act may be NULL. */
void nn_linear_packed(float *y, size_t ldy, const float *x, size_t ldx,
    struct nn_matrix w, const float *bias, const enum nn_act *act, bool add, size_t T,
    size_t C, size_t O);

#endif
