/* Products of a few rows with weights as the checkpoint has them, [N,K]. */
#include <string.h>

#include "nn/cpu/product.h"
#include "nn/cpu/transpose.h"

/*
 * Each weight is read once from memory and used at once, as many outputs as a vector has lanes beside each other.
 * The order of each sum is that of the whole product: k ascending, from what c was.
 */

enum {
	FEW = 8,  /* rows */
	WIDE = 2, /* squares beside each other */
	LONG =
	    1
	    << 13, /* bytes of a row of weights from which on its own next bytes are prefetched, not the next row */
	NEAR = 512 /* bytes ahead that are prefetched in such a row */
};

/* sums[r] += a[r, k] times the lanes of b */
NN_INLINE void
step(nn_vector *sums, const float *a, size_t lda, const nn_vector *b, size_t rows)
{
	for (size_t r = 0; r < rows; r++)
		sums[r] += *b * a[r * lda];
}

/* What begins c in `some` columns from n on, and what becomes of it. */
NN_INLINE void
take_sums(nn_vector *sums, const struct product *p, size_t n, size_t some, size_t rows)
{
	_Alignas(64) float c[NN_LANES] = { 0 };

	for (size_t r = 0; r < rows; r++) {
		memcpy(c, p->c + r * p->ldc + n, some * sizeof *c);
		sums[r] = *(const nn_loose *)c;
	}
}

NN_INLINE void
put_sums(
    const nn_vector *sums, const struct product *p, size_t n, size_t some, size_t rows)
{
	_Alignas(64) float c[NN_LANES];

	for (size_t r = 0; r < rows; r++) {
		*(nn_loose *)c = sums[r];
		memcpy(p->c + r * p->ldc + n, c, some * sizeof *c);
	}
}

/* The columns from n on of c, of `wide` squares of b, each `some` of its rows high; in long rows what
 * comes next in them is asked for, else the next rows. */
NN_INLINE void
columns(const struct product *p, size_t n, size_t some, size_t rows, size_t wide,
    enum dtype dtype)
{
	_Alignas(64) float rest[4 * NN_LANES * NN_LANES];
	nn_vector sums[WIDE][FEW], square[WIDE][NN_LANES], scales[WIDE] = { 0 }, one;
	size_t parts = nn_parts(dtype), side = NN_LANES * parts, k = 0;
	size_t row = nn_row_size(dtype, p->ldb), high = NN_LANES * row;
	size_t ahead = row < LONG ? wide * high : NEAR;
	const char *b = (const char *)p->b.at + n * row;
	const float *a = p->a;

	for (size_t w = 0; w < wide; w++)
		take_sums(sums[w], p, n + w * NN_LANES, some, rows);
	for (; k + side <= p->K; k += side, a += side) {
		for (size_t w = 0; w < wide; w++) {
			const char *at = b + w * high;
			if (dtype == DTYPE_I8 && k % NN_QUANT_GROUP == 0)
				nn_take_scales(scales + w, at, row, some, p->ldb, k);
			nn_take_square(
			    square[w], at + k * nn_element(dtype), row, some, ahead, 1);
		}
		for (size_t i = 0; i < NN_LANES; i++)
			for (size_t part = 0; part < parts; part++)
				for (size_t w = 0; w < wide; w++) {
					nn_widen_words(
					    &one, square[w] + i, part, dtype, scales + w);
					step(sums[w], a + parts * i + part, p->lda, &one,
					    rows);
				}
	}
	for (size_t w = 0; w < wide; w++) {
		if (k < p->K)
			nn_transpose(rest, NN_LANES,
			    nn_matrix_from(p->b, n + w * NN_LANES, p->ldb), p->ldb, k,
			    some, p->K - k, NN_LANES, 1);
		for (size_t i = 0; k + i < p->K; i++) {
			one = *(const nn_loose *)(rest + i * NN_LANES);
			step(sums[w], a + i, p->lda, &one, rows);
		}
		put_sums(sums[w], p, n + w * NN_LANES, some, rows);
	}
}

NN_INLINE void
all_columns(const struct product *p, size_t n0, size_t n1, size_t rows, enum dtype dtype)
{
	/* so many of eight bits come at once that a sum, which waits for the one before, is what takes time */
	const size_t wide = dtype == DTYPE_I8 && rows <= 4 ? WIDE : 1;
	size_t n = n0;

	for (; n + wide * NN_LANES <= n1; n += wide * NN_LANES)
		columns(p, n, NN_LANES, rows, wide, dtype);
	for (; n < n1; n += NN_LANES)
		columns(p, n, n1 - n < NN_LANES ? n1 - n : NN_LANES, rows, 1, dtype);
}

/*
 * all_columns for each number of rows and each type of weights, so that the sums stay in registers.  They are functions of
 * their own because gcc takes twice as long over one that holds them all.  With the sanitizers it takes three times as
 * long again, so there one function of a type takes every number of rows.
 */
#define FUNCTION(name, rows, TYPE)                                                       \
	NN_NOINLINE void columns_##name##_##TYPE(                                           \
	    const struct product *p, size_t n0, size_t n1)                               \
	{                                                                                \
		all_columns(p, n0, n1, rows, DTYPE_##TYPE);                              \
	}
#define FUNCTIONS(name, rows)                                                            \
	FUNCTION(name, rows, F32)                                                        \
	FUNCTION(name, rows, F16) FUNCTION(name, rows, BF16) FUNCTION(name, rows, I8)
#define ENTRIES(name)                                                                    \
	{                                                                                \
		[DTYPE_F32] = columns_##name##_F32, [DTYPE_F16] = columns_##name##_F16,  \
		[DTYPE_BF16] = columns_##name##_BF16, [DTYPE_I8] = columns_##name##_I8   \
	}

typedef void columns_function(const struct product *p, size_t n0, size_t n1);

#ifdef __SANITIZE_ADDRESS__
FUNCTIONS(any, p->M)
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
nn_few_rows(const struct product *p)
{
	return p->M > 0 && p->M <= FEW && p->b_transposed && !p->a_transposed && p->alpha == 1 &&
	       !p->b.packed && !p->halves;
}

void
nn_product_of_few_rows(const struct product *p, size_t n0, size_t n1)
{
	nn_product_begin(p, 0, p->M, n0, n1 - n0);
	columns_of[p->M - 1][p->b.dtype](p, n0, n1);
	nn_product_finish(p, 0, p->M, n0, n1 - n0);
}
