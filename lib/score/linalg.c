#include "score/linalg.h"

#include <cblas.h>

void
linalg_multiply(double *c, const double *a, bool transpose_a, const double *b,
    bool transpose_b, int m, int n, int k)
{
	cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
	    transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1, a, transpose_a ? m : k,
	    b, transpose_b ? k : n, 0, c, n);
}
