/*
 * product - one matrix product, and the part of it that a thread makes.
 */
#ifndef NN_CPU_PRODUCT_H
#define NN_CPU_PRODUCT_H

#include "nn/cpu/cpu.h"

/*
 * c[M,N] = act(alpha a b + beta c + bias): a is [M,K], or [K,M] when a_transposed; b is [K,N], or
 * [N,K] when b_transposed, or packed; bias[N] and act may be NULL.
 * An element's sum runs over K in an order that depends on K alone: neither the other rows and
 * columns nor the threads change its bits.
 */
struct product {
	float *c;
	const float *a, *bias;
	struct nn_matrix b;
	size_t ldc, lda, ldb, M, N, K;
	bool a_transposed, b_transposed;
	bool halves; /* of bf16: alpha is 1, b of floats, not packed */
	const enum nn_act *act;
	float alpha, beta;
};

/* c[m.., n..] = beta c + bias: what the sums start from; and what becomes of them at the end. */
void nn_product_begin(
    const struct product *p, size_t m, size_t rows, size_t n, size_t width);
void nn_product_finish(
    const struct product *p, size_t m, size_t rows, size_t n, size_t width);

/* The rows m0..m1-1 and columns n0..n1-1 of c, of a and b rounded to bf16, by packed_kernel.  Sums are floats, in an order
 * that K alone decides.  (product_halves.c) */
void nn_rectangle_of_halves(
    const struct product *p, size_t m0, size_t m1, size_t n0, size_t n1);

/* Whether nn_product_of_few_rows makes p: 1 to 8 rows, and weights as the checkpoint has them.  (product_few.c) */
bool nn_few_rows(const struct product *p);

/* The columns n0..n1-1 of c; nn_few_rows(p) holds. */
void nn_product_of_few_rows(const struct product *p, size_t n0, size_t n1);

#endif
