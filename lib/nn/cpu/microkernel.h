/*
 * microkernel - sums of a tile of bf16 or int8 products, by the instructions that the processor has for them.
 */
#ifndef NN_CPU_MICROKERNEL_H
#define NN_CPU_MICROKERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/nn.h"

enum {
	PACKED_PANEL = 16, /* rows of weights interleaved */
	PACKED_DEPTH =
	    64, /* a row's bytes are a multiple of it, the last of them zeros */
	PACKED_WIDTH = 64,  /* columns of a tile of sums: up to four panels */
	PACKED_TILE = 16,   /* rows of an AMX tile, all of which are read */
	PACKED_HEIGHT = 32, /* rows of a tile of sums, at most */
	PACKED_WIDE = 6	    /* rows that are widened at once */
};

union packed_sum {
	int32_t i32; /* of i8 */
	float f32;   /* of bf16 */
};

struct microkernel {
	const char *name;
	enum dtype dtype; /* DTYPE_I8 or DTYPE_BF16 */
	size_t rows;	  /* of a tile, at best */
	/* tokens of a batch with which a worker is quickest: enough to be worth reading the weights, few enough that a layer's
	 * activations stay in L2 */
	size_t tokens;
	size_t step; /* `depth` of `sums` is a multiple of it, PACKED_DEPTH at most */
	/*
	 * sums[rows][PACKED_WIDTH] = x w^T in the columns of 1 to 4 `panels`; rows of x and w have `depth` bytes.
	 *	x: a row each `depth` bytes, u8 or bf16; whole PACKED_TILEs of rows can be read; or what `widen` made
	 *	w: panel after panel, each [depth / 4][PACKED_PANEL][4 bytes], i8 or bf16
	 * Sums of i8 are exact, the same for each microkernel; those of bf16 differ.  No row depends on another.
	 */
	void (*sums)(union packed_sum *sums, const char *x, const char *w, size_t panels,
	    size_t rows, size_t depth);
	/* a thread calls them before and after its tiles; may be NULL */
	void (*begin)(void), (*end)(void);
	/* At most PACKED_WIDE rows of u8 as words of 16 bits, in the order that `sums` reads; NULL: it reads the bytes.  Each
	 * tile but the last of a strip has a multiple of so many rows, which begin at rows * depth words. */
	void (*widen)(uint16_t *to, const char *x, size_t rows, size_t depth);
	bool (*has)(void);     /* true if this processor has the instructions */
	bool (*quicker)(void); /* true if it is quicker than f32's; NULL: it is */
};

/*
 * The quickest that this processor has, or the one named by MOTES_ISA: amx, avx512, avxvnni or avx2 of x86-64; bf16 (then i8 is
 * by the quickest), i8mm or dotprod of arm64; plain.  bf16: NULL if f32 is as quick.  Dies if the processor lacks the one named.
 */
const struct microkernel *microkernel(enum dtype dtype);

/* True if it is quicker than f32's. */
bool microkernel_quicker(const struct microkernel *kernel);

/* The kernels of this architecture (microkernel_x86.c, microkernel_arm.c), the quickest first; an entry without a name ends them. */
const struct microkernel *microkernels_native(void);

#endif
