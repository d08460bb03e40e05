/*
 * product - the matrix product behind the linear layers.
 */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "nn/cpu/cpu.h"

enum { NN_FEW = 8 }; /* rows of nn_multiply_few */

/*
 * c[M,N] = act(alpha a b + beta c + bias): a is [M,K], or [K,M] when a_turned; b is [K,N], or
 * [N,K] when b_turned; bias[N] may be NULL; act is applied when `activate` is set.
 * An element's sum runs over K in an order that depends on K alone: neither the other rows and
 * columns nor the threads change its bits.
 */
struct nn_product {
	float *c;
	const float *a, *bias;
	struct nn_matrix b;
	size_t ldc, lda, ldb, M, N, K;
	bool a_turned, b_turned, activate;
	enum nn_act act;
	float alpha, beta;
};
void nn_multiply(const struct nn_product *p);

/* c += a b in the columns n0..n1-1, for M <= NN_FEW, a not turned, b turned and alpha 1. */
void nn_multiply_few(const struct nn_product *p, size_t n0, size_t n1);

#endif
