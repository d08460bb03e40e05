/*
 * multiply - one matrix product by cuBLASLt, and what its sides are made of.
 */
#ifndef NN_CUDA_MULTIPLY_H
#define NN_CUDA_MULTIPLY_H

#include "nn/cuda/device.h"

/*
 * What a and b are of: floats; bf16, whose products are summed as floats; signed bytes, whose sums are int32_t and which
 * want b transposed, a not, K and the strides multiples of 16, N one of 4, M 32 at least.
 */
enum multiply_kind { MULTIPLY_FLOATS, MULTIPLY_HALVES, MULTIPLY_BYTES };

/*
 * c[M,N] = alpha a b + beta c + bias, row-major: a is [M,K], or [K,M] when a_transposed; b is [K,N], or [N,K] when b_transposed;
 * bias[N] may be NULL; where beta is 0 c is not read.
 * alone: an element's sum is made in one piece and does not depend on how many rows there are, but for the kernel that
 * cuBLASLt finds best for about so many.
 */
struct multiply {
	void *c;
	const void *a, *b;
	const float *bias;
	size_t ldc, lda, ldb, M, N, K;
	enum multiply_kind kind;
	bool a_transposed, b_transposed, alone;
	float alpha, beta;
};
void multiply(const struct multiply *p);

/* Whether floats may be rounded to TF32 in products: MOTES_TF32=1. */
bool multiply_tf32(void);

/* Elements of scratch memory that a side is made in at once. */
constexpr size_t MULTIPLY_PIECE = (size_t)16 << 20;

static inline size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Halves in a row of C, so that rows begin at 16 bytes. */
static inline size_t
halves_in_row(size_t C)
{
	return round_up(C, 8);
}

/* x[R,C] rounded to bf16 in rows of halves_in_row(C), filled up with zeros. */
void halves_of(__nv_bfloat16 *to, const float *x, size_t ldx, size_t R, size_t C);

/* The rows o..o+count-1 of a matrix of C columns, f16, bf16 or i8, as floats. */
void floats_of(float *to, struct nn_matrix w, size_t C, size_t o, size_t count);

/* y = act(x w^T + bias), or y += x w^T, with w of i8 that nn_pack made; bias may be NULL.  (packed.cu) */
void multiply_packed_bytes(float *y, size_t ldy, const float *x, size_t ldx,
    struct nn_matrix w, const float *bias, bool add, size_t T, size_t C, size_t O);

#endif
