/*
 * linalg - linear algebra in double for the statistics; row-major, contiguous.
 */
#ifndef LINALG_H
#define LINALG_H

#include <stdbool.h>

/* c[m,n] = op(a) op(b), op the transpose where asked; op(a) is [m,k], op(b) [k,n]. */
void linalg_multiply(double *c, const double *a, bool transpose_a, const double *b,
    bool transpose_b, int m, int n, int k);

#endif
