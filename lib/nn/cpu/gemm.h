/*
 * gemm - matrix products after Goto and van de Geijn 2008: one driver for f32, bf16 and int8.
 *
 * Each thread has a rectangle of c.  It packs a block of b, `depth` terms by `span` columns, into panels that stay in L2; beside
 * it one strip of a after another; and multiplies the strip by the panels, in tiles whose sums grow in registers.
 */
#ifndef NN_CPU_GEMM_H
#define NN_CPU_GEMM_H

#include "nn/cpu/cpu.h"
#include "nn/cpu/quantize.h"

/*
 * c[M,N] = act(alpha a b + beta c + bias): a is [M,K], or [K,M] if a_transposed; b is [K,N], or [N,K] if b_transposed, or
 * packed by nn_pack; bias[N] and act may be NULL.  Unless b is f32 and not b.bf16: alpha is 1, and beta 0, or 1 without a bias.
 * The order of an element's sum depends on K alone: other rows, other columns and threads do not change its bits.
 */
struct gemm {
	float *c;
	const float *a, *bias;
	struct nn_matrix b;
	size_t ldc, lda, ldb, M, N, K;
	bool a_transposed, b_transposed;
	const enum nn_act *act;
	float alpha, beta;
};

/* Rows m0..m1-1 and columns n0..n1-1 of c. */
struct gemm_rectangle {
	size_t m0, m1, n0, n1;
};

enum { GEMM_STRIP = 96 }; /* rows of a strip, at most */

/* One step of the driver: `rows` rows from m on, `columns` columns from n on, `depth` terms from k on. */
struct gemm_block {
	size_t m, rows, n, columns, k, depth;
	char *strip, *panels;		     /* a and b packed */
	struct row_scale scales[GEMM_STRIP]; /* of the rows of a; i8 */
};

/* How one kind of number is multiplied. */
struct gemm_kind {
	size_t strip, depth, span; /* at once */
	void (*pack_a)(const struct gemm *g, struct gemm_block *block);
	void (*pack_b)(
	    const struct gemm *g, struct gemm_block *block); /* not if b.packed */
	/* c of the block = its addend, or what c is after the first block of terms, + strip x panels; epilogue after the last */
	void (*multiply)(const struct gemm *g, const struct gemm_block *block);
};

/* The driver; `strip` and `panels` are memory for what is packed. */
void gemm_drive(const struct gemm *g, const struct gemm_kind *kind,
    const struct gemm_rectangle *at, void *strip, void *panels);

/* The kinds: f32 (gemm_f32.c); bf16 and int8, packed or made of floats (gemm_packed.c). */
void gemm_f32(const struct gemm *g, const struct gemm_rectangle *at);
void gemm_bf16(const struct gemm *g, const struct gemm_rectangle *at);
void gemm_packed(const struct gemm *g, const struct gemm_rectangle *at);

/* 1 to 8 rows by weights as the checkpoint has them: true if gemm_few makes g; the columns n0..n1-1 of c.  (gemm_few.c) */
bool gemm_is_few(const struct gemm *g);
void gemm_few(const struct gemm *g, size_t n0, size_t n1);

/* c = beta c + bias in these rows and columns; c = act(c). */
void gemm_begin(const struct gemm *g, size_t m, size_t rows, size_t n, size_t columns);
void gemm_epilogue(const struct gemm *g, size_t m, size_t rows, size_t n, size_t columns);

#endif
