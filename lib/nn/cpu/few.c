#include "nn/cpu/product.h"
#include "nn/cpu/transpose.h"

/*
 * Products of a few rows with weights as the checkpoint has them, [N,K]: each weight is read
 * once from memory and used at once, as many outputs as a vector has lanes beside each other.
 * The order of each sum is nn_multiply's: k ascending, from what c was.
 */

enum { LONG = 1 << 13, NEAR = 512 }; /* bytes */

/* sums[r] += a[r, k] times the lanes of b */
NN_INLINE void
step(nn_vector *sums, const float *a, size_t lda, const nn_vector *b, size_t rows)
{
	for (size_t r = 0; r < rows; r++)
		sums[r] += *b * a[r * lda];
}

/* A square from row n and column k on, `some` rows of it.  What lies there in the next rows,
 * or in long rows what comes next, is asked for: into the second cache, the first is too small
 * for it. */
NN_INLINE void
take(nn_vector *square, const struct nn_product *p, size_t n, size_t k, size_t some,
    enum dtype dtype)
{
	size_t size = dtype == DTYPE_F32 ? sizeof(float) : sizeof(uint16_t);
	const char *at = (const char *)p->b.at + (n * p->ldb + k) * size;
	size_t row = p->ldb * size, ahead = row < LONG ? NN_LANES * row : NEAR;

	for (size_t r = 0; r < NN_LANES; r++, at += row) {
		square[r] = (nn_vector){ 0 };
		if (r < some)
			memcpy(square + r, at, sizeof *square);
		__builtin_prefetch(at + ahead, 0, 2);
	}
	nn_turn(square);
}

/* The columns n .. n+some-1 of c. */
NN_INLINE void
columns(const struct nn_product *p, size_t n, size_t some, size_t rows, enum dtype dtype)
{
	_Alignas(64) float c[NN_FEW * NN_LANES] = { 0 }, rest[2 * NN_LANES * NN_LANES];
	nn_vector sums[NN_FEW], square[NN_LANES], one;
	const float *a = p->a, *b = p->b.at;
	const uint16_t *half = p->b.at;
	size_t k = 0, side = dtype == DTYPE_F32 ? NN_LANES : 2 * NN_LANES;

	for (size_t r = 0; r < rows; r++) {
		memcpy(c + r * NN_LANES, p->c + r * p->ldc + n, some * sizeof *c);
		sums[r] = *(const nn_loose *)(c + r * NN_LANES);
	}
	for (; k + side <= p->K; k += side, a += side) {
		take(square, p, n, k, some, dtype);
		for (size_t i = 0; i < NN_LANES; i++) {
			if (dtype == DTYPE_F32) {
				step(sums, a + i, p->lda, square + i, rows);
				continue;
			}
			nn_words pair;
			memcpy(&pair, square + i, sizeof pair);
			nn_widen_words(&one, &pair, false, dtype);
			step(sums, a + 2 * i, p->lda, &one, rows);
			nn_widen_words(&one, &pair, true, dtype);
			step(sums, a + 2 * i + 1, p->lda, &one, rows);
		}
	}
	if (k < p->K && dtype == DTYPE_F32)
		nn_transpose(rest, NN_LANES, b + n * p->ldb + k, p->ldb, some, p->K - k,
		    NN_LANES, 1);
	else if (k < p->K)
		nn_transpose_half(rest, NN_LANES, half + n * p->ldb + k, p->ldb, some,
		    p->K - k, NN_LANES, dtype);
	for (const float *row = rest; k < p->K; k++, a++, row += NN_LANES) {
		one = *(const nn_loose *)row;
		step(sums, a, p->lda, &one, rows);
	}
	for (size_t r = 0; r < rows; r++) {
		*(nn_loose *)(c + r * NN_LANES) = sums[r];
		memcpy(p->c + r * p->ldc + n, c + r * NN_LANES, some * sizeof *c);
	}
}

NN_INLINE void
all_columns(
    const struct nn_product *p, size_t n0, size_t n1, size_t rows, enum dtype dtype)
{
	size_t n = n0;

	for (; n + NN_LANES <= n1; n += NN_LANES)
		columns(p, n, NN_LANES, rows, dtype);
	if (n < n1)
		columns(p, n, n1 - n, rows, dtype);
}

NN_INLINE void
of_type(const struct nn_product *p, size_t n0, size_t n1, enum dtype dtype)
{
	switch (p->M) {
	case 1: all_columns(p, n0, n1, 1, dtype); break;
	case 2: all_columns(p, n0, n1, 2, dtype); break;
	case 3: all_columns(p, n0, n1, 3, dtype); break;
	case 4: all_columns(p, n0, n1, 4, dtype); break;
	case 5: all_columns(p, n0, n1, 5, dtype); break;
	case 6: all_columns(p, n0, n1, 6, dtype); break;
	case 7: all_columns(p, n0, n1, 7, dtype); break;
	case 8: all_columns(p, n0, n1, 8, dtype); break;
	}
}

void
nn_multiply_few(const struct nn_product *p, size_t n0, size_t n1)
{
	switch (p->b.dtype) {
	case DTYPE_F16: of_type(p, n0, n1, DTYPE_F16); break;
	case DTYPE_BF16: of_type(p, n0, n1, DTYPE_BF16); break;
	default: of_type(p, n0, n1, DTYPE_F32); break;
	}
}
