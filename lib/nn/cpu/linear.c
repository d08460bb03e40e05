#include "nn/nn.h"

#include "nn/cpu/product.h"

NN_INLINE struct nn_matrix
f32(const float *at)
{
	return (struct nn_matrix){ at, DTYPE_F32 };
}

void
nn_linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, size_t T, size_t C, size_t O)
{
	nn_multiply(&(struct nn_product){ .c = y,
	    .a = x,
	    .b = w,
	    .bias = b,
	    .ldc = ldy,
	    .lda = ldx,
	    .ldb = C,
	    .M = T,
	    .N = O,
	    .K = C,
	    .b_turned = true,
	    .alpha = 1 });
}

void
nn_linear_activate(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, enum nn_act act, size_t T, size_t C, size_t O)
{
	nn_multiply(&(struct nn_product){ .c = y,
	    .a = x,
	    .b = w,
	    .bias = b,
	    .ldc = ldy,
	    .lda = ldx,
	    .ldb = C,
	    .M = T,
	    .N = O,
	    .K = C,
	    .b_turned = true,
	    .activate = true,
	    .act = act,
	    .alpha = 1 });
}

/* db += column sums; each thread owns some columns, so the order never changes. */
static void
column_sums(float *db, const float *dy, size_t ldy, size_t T, size_t O)
{
#pragma omp parallel for schedule(static) if (T * O > NN_SERIAL)
	for (size_t from = 0; from < O; from += NN_SLICE) {
		size_t width = O - from < NN_SLICE ? O - from : NN_SLICE;
		double sum[NN_SLICE] = { 0 };
		for (size_t t = 0; t < T; t++)
#pragma omp simd
			for (size_t c = 0; c < width; c++)
				sum[c] += (double)dy[t * ldy + from + c];
		for (size_t c = 0; c < width; c++)
			db[from + c] += (float)sum[c];
	}
}

void
nn_linear_back(float *dx, bool add, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	if (dx)
		nn_multiply(&(struct nn_product){ .c = dx,
		    .a = dy,
		    .b = w,
		    .ldc = C,
		    .lda = ldy,
		    .ldb = C,
		    .M = T,
		    .N = C,
		    .K = O,
		    .alpha = 1,
		    .beta = add ? 1 : 0 });
	if (dw)
		nn_multiply(&(struct nn_product){ .c = dw,
		    .a = dy,
		    .b = f32(x),
		    .ldc = C,
		    .lda = ldy,
		    .ldb = ldx,
		    .M = O,
		    .N = C,
		    .K = T,
		    .a_turned = true,
		    .alpha = 1,
		    .beta = 1 });
	if (db)
		column_sums(db, dy, ldy, T, O);
}

void
nn_product_nt(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	nn_multiply(&(struct nn_product){ .c = c,
	    .a = a,
	    .b = f32(b),
	    .ldc = N,
	    .lda = K,
	    .ldb = K,
	    .M = M,
	    .N = N,
	    .K = K,
	    .b_turned = true,
	    .alpha = alpha,
	    .beta = beta });
}

void
nn_product_nn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	nn_multiply(&(struct nn_product){ .c = c,
	    .a = a,
	    .b = f32(b),
	    .ldc = N,
	    .lda = K,
	    .ldb = N,
	    .M = M,
	    .N = N,
	    .K = K,
	    .alpha = alpha,
	    .beta = beta });
}

void
nn_product_tn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	nn_multiply(&(struct nn_product){ .c = c,
	    .a = a,
	    .b = f32(b),
	    .ldc = N,
	    .lda = M,
	    .ldb = N,
	    .M = M,
	    .N = N,
	    .K = K,
	    .a_turned = true,
	    .alpha = alpha,
	    .beta = beta });
}
