/*
 * linear_regression - ordinary least squares with an intercept, as scikit-learn's LinearRegression: of several solutions
 * that of least norm, by LAPACK's dgelsd on centred data.
 *
 * Arithmetic is f64; scikit-learn computes in the dtype of the vectors, f32 in mteb.  Singular values of at most
 * `cutoff` times the greatest count as 0, so `cutoff` decides the rank.
 */
#ifndef SCORE_LINEAR_REGRESSION_H
#define SCORE_LINEAR_REGRESSION_H

#include <stdint.h>

struct linear_regression {
	int width, rank;
	double *weights; /* [width] */
	double intercept;
};

/* rows: n pointers to vectors [width]; y [n].  Dies if LAPACK does not converge. */
struct linear_regression *linear_regression_fit(
    const float *const *rows, const double *y, int64_t n, int width, double cutoff);

/* Writes predicted [count] for x [count, width]. */
void linear_regression_predict(const struct linear_regression *regression, const float *x,
    int64_t count, double *predicted);
void linear_regression_free(struct linear_regression *regression);

#endif
