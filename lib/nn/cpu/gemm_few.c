/* GEMM of 1 to 8 rows by weights as the checkpoint has them, [N,K]: packing them would take longer than the product. */
#include <string.h>

#include "nn/cpu/gemm.h"
#include "nn/cpu/transpose.h"

/*
 * Each weight is read once and used for all rows.  A SIMD lane has an output; blocks of NN_LANES rows by NN_LANES words of b are
 * transposed in registers.  A sum's order is that of gemm_f32.c: k ascending, from c.
 */

enum {
	FEW = 8,  /* rows */
	WIDE = 2, /* blocks beside each other */
	LONG =
	    1
	    << 13, /* bytes of a row of b from which on the row's next bytes are prefetched, not the next rows */
	NEAR = 512 /* bytes ahead that are prefetched in such a row */
};

/* sums[r] += a[r, k] b, by lane */
NN_INLINE void
multiply_add(nn_vector *sums, const float *a, size_t lda, const nn_vector *b, size_t rows)
{
	for (size_t r = 0; r < rows; r++)
		sums[r] += *b * a[r * lda];
}

/* Sums from and to `count` columns of c from n on. */
NN_INLINE void
load_sums(nn_vector *sums, const struct gemm *g, size_t n, size_t count, size_t rows)
{
	_Alignas(64) float c[NN_LANES] = { 0 };

	for (size_t r = 0; r < rows; r++) {
		memcpy(c, g->c + r * g->ldc + n, count * sizeof *c);
		sums[r] = *(const nn_loose *)c;
	}
}

NN_INLINE void
store_sums(
    const nn_vector *sums, const struct gemm *g, size_t n, size_t count, size_t rows)
{
	_Alignas(64) float c[NN_LANES];

	for (size_t r = 0; r < rows; r++) {
		*(nn_loose *)c = sums[r];
		memcpy(g->c + r * g->ldc + n, c, count * sizeof *c);
	}
}

/* Columns n.. of c, from `wide` blocks of b, each of `count` of its rows. */
NN_INLINE void
columns(const struct gemm *g, size_t n, size_t count, size_t rows, size_t wide,
    enum dtype dtype)
{
	_Alignas(64) float rest[4 * NN_LANES * NN_LANES];
	nn_vector sums[WIDE][FEW], block[WIDE][NN_LANES], scales[WIDE] = { 0 }, one;
	size_t parts = nn_parts(dtype), words = NN_LANES * parts, k = 0;
	size_t row = nn_row_size(dtype, g->ldb), high = NN_LANES * row;
	size_t ahead = row < LONG ? wide * high : NEAR;
	const char *b = (const char *)g->b.at + n * row;
	const float *a = g->a;

	for (size_t w = 0; w < wide; w++)
		load_sums(sums[w], g, n + w * NN_LANES, count, rows);
	for (; k + words <= g->K; k += words, a += words) {
		for (size_t w = 0; w < wide; w++) {
			const char *at = b + w * high;
			if (dtype == DTYPE_I8 && k % NN_QUANT_GROUP == 0)
				nn_load_scales(scales + w, at, row, count, g->ldb, k);
			nn_load_transposed(
			    block[w], at + k * nn_element(dtype), row, count, ahead, 1);
		}
		for (size_t i = 0; i < NN_LANES; i++)
			for (size_t part = 0; part < parts; part++)
				for (size_t w = 0; w < wide; w++) {
					nn_widen_words(
					    &one, block[w] + i, part, dtype, scales + w);
					multiply_add(sums[w], a + parts * i + part,
					    g->lda, &one, rows);
				}
	}
	for (size_t w = 0; w < wide; w++) {
		if (k < g->K)
			nn_transpose(rest, NN_LANES,
			    nn_matrix_from(g->b, n + w * NN_LANES, g->ldb), g->ldb, k,
			    count, g->K - k, NN_LANES, 1);
		for (size_t i = 0; k + i < g->K; i++) {
			one = *(const nn_loose *)(rest + i * NN_LANES);
			multiply_add(sums[w], a + i, g->lda, &one, rows);
		}
		store_sums(sums[w], g, n + w * NN_LANES, count, rows);
	}
}

NN_INLINE void
all_columns(const struct gemm *g, size_t n0, size_t n1, size_t rows, enum dtype dtype)
{
	/* i8 is read so quickly that the latency of the sums decides */
	const size_t wide = dtype == DTYPE_I8 && rows <= 4 ? WIDE : 1;
	size_t n = n0;

	for (; n + wide * NN_LANES <= n1; n += wide * NN_LANES)
		columns(g, n, NN_LANES, rows, wide, dtype);
	for (; n < n1; n += NN_LANES)
		columns(g, n, n1 - n < NN_LANES ? n1 - n : NN_LANES, rows, 1, dtype);
}

/*
 * all_columns for each number of rows and type of weights, so that the sums stay in registers.  One function for each, because
 * gcc compiles a function with all of them half as fast.  That takes 10 s, and 30 with the sanitizers; so in those builds, and
 * in the quick ones (any.mk), one function of a type takes any number of rows.
 */
#define FUNCTION(name, rows, TYPE)                                                       \
	NN_NOINLINE void columns_##name##_##TYPE(                                        \
	    const struct gemm *g, size_t n0, size_t n1)                                  \
	{                                                                                \
		all_columns(g, n0, n1, rows, DTYPE_##TYPE);                              \
	}
#define FUNCTIONS(name, rows)                                                            \
	FUNCTION(name, rows, F32)                                                        \
	FUNCTION(name, rows, F16) FUNCTION(name, rows, BF16) FUNCTION(name, rows, I8)
#define ENTRIES(name)                                                                    \
	{                                                                                \
		[DTYPE_F32] = columns_##name##_F32, [DTYPE_F16] = columns_##name##_F16,  \
		[DTYPE_BF16] = columns_##name##_BF16, [DTYPE_I8] = columns_##name##_I8   \
	}

typedef void columns_function(const struct gemm *g, size_t n0, size_t n1);

#if defined(__SANITIZE_ADDRESS__) || defined(QUICK)
FUNCTIONS(any, g->M)
static columns_function *const columns_of[FEW][DTYPE_COUNT] = { ENTRIES(any),
	ENTRIES(any), ENTRIES(any), ENTRIES(any), ENTRIES(any), ENTRIES(any),
	ENTRIES(any), ENTRIES(any) };
#else
FUNCTIONS(1, 1)
FUNCTIONS(2, 2)
FUNCTIONS(3, 3)
FUNCTIONS(4, 4)
FUNCTIONS(5, 5)
FUNCTIONS(6, 6)
FUNCTIONS(7, 7)
FUNCTIONS(8, 8)
static columns_function *const columns_of[FEW][DTYPE_COUNT] = { ENTRIES(1), ENTRIES(2),
	ENTRIES(3), ENTRIES(4), ENTRIES(5), ENTRIES(6), ENTRIES(7), ENTRIES(8) };
#endif

bool
gemm_is_few(const struct gemm *g)
{
	return g->M > 0 && g->M <= FEW && g->b_transposed && !g->a_transposed &&
	       g->alpha == 1 && !g->b.packed;
}

void
gemm_few(const struct gemm *g, size_t n0, size_t n1)
{
	gemm_begin(g, 0, g->M, n0, n1 - n0);
	columns_of[g->M - 1][g->b.dtype](g, n0, n1);
	gemm_epilogue(g, 0, g->M, n0, n1 - n0);
}
