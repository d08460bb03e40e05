/*
 * gemm - one matrix product by cuBLASLt, and the conversions of its operands.
 */
#ifndef NN_CUDA_GEMM_H
#define NN_CUDA_GEMM_H

#include "nn/cuda/device.h"

/*
 * Types of a and b.  GEMM_BF16 has f32 sums and results; GEMM_BF16_OUT rounds the results, to which it adds a bias of bf16, to bf16.
 * GEMM_I8 is signed with int32_t sums; b must be transposed, a not, K and the strides multiples of 16, N a multiple of 4, M
 * at least 32.
 */
enum gemm_type { GEMM_F32, GEMM_BF16, GEMM_I8, GEMM_BF16_OUT };

/*
 * c[M,N] = alpha a b + beta c + bias, row-major: a is [M,K], or [K,M] when a_transposed; b is [K,N], or [N,K] when b_transposed;
 * bias[N] may be NULL; if beta is 0, c is not read.
 * no_split_k: an element is summed by one block, so that the number of rows matters only by the algorithm that cuBLASLt
 * chooses for about so many.
 */
struct cublas_gemm {
	void *c;
	const void *a, *b;
	const void *bias; /* of c's type */
	size_t ldc, lda, ldb, M, N, K;
	enum gemm_type kind;
	bool a_transposed, b_transposed, no_split_k;
	float alpha, beta;
};
void cublas_gemm(const struct cublas_gemm *p);

/* True if GEMM may round f32 to TF32: MOTES_TF32=1. */
bool gemm_tf32(void);

/* Elements of an operand that are converted at once. */
constexpr size_t GEMM_CHUNK = (size_t)16 << 20;

static inline size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Row stride of a bf16 matrix of C columns, so that rows are aligned to 16 bytes. */
static inline size_t
bf16_stride(size_t C)
{
	return round_up(C, 8);
}

/* x[R,C] as bf16 with row stride bf16_stride(C), zeros beyond C. */
void convert_to_bf16(__nv_bfloat16 *to, const float *x, size_t ldx, size_t R, size_t C);

/* Rows o..o+count-1 of a matrix of C columns, f16, bf16 or i8, as f32. */
void convert_to_f32(float *to, struct nn_matrix w, size_t C, size_t o, size_t count);

/* y = x w^T + bias, or y += x w^T, with w packed as i8; bias may be NULL.  (packed.cu) */
void gemm_packed_i8(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *bias, bool add, size_t T, size_t C, size_t O);

#endif
