/*
 * logistic_regression - L2-regularised logistic regression: scikit-learn's objective, solved to the optimum.
 *
 * Minimises  1/n sum of loss + |W|^2 / (2 n), so C = 1,  from zero, in double; the intercepts are not
 * penalised.  Two classes: one weight vector, logistic loss.  More: one weight vector per class,
 * softmax loss.  The objective is strictly convex in W, so its minimum is unique; scikit-learn stops
 * at a gradient of 1e-4.  `reference` stops where scikit-learn >= 1.4 does: L-BFGS with 10 corrections,
 * More and Thuente's (1994) line search with the constants of L-BFGS-B 3.0 (decrease 1e-3, curvature
 * 0.9), until no component of the gradient exceeds the tolerance, or a step gains at most 64 epsilon of
 * max(|f|, 1).  If 100 iterations are too few, rounding decides: permuting the features changes
 * scikit-learn's accuracy.
 */
#ifndef SCORE_LOGISTIC_REGRESSION_H
#define SCORE_LOGISTIC_REGRESSION_H

#include <stdbool.h>
#include <stdint.h>

struct logistic_regression_options {
	double tolerance; /* stop when no component of the gradient exceeds it */
	int most;	  /* maximum number of iterations */
	bool reference;
};

/* Solved to the optimum; stopped where scikit-learn stops by default. */
extern const struct logistic_regression_options logistic_regression_optimum,
    logistic_regression_reference;

struct logistic_regression {
	int classes, width, vectors; /* vectors: 1 for two classes, else one per class */
	double *weights;	     /* [vectors, width] */
	double *intercepts;	     /* [vectors] */
	int iterations;
	double gradient; /* absmax at the end */
};

/* x [n, width], label in 0..classes-1. */
struct logistic_regression *logistic_regression_fit(const float *x, const int32_t *label,
    int64_t n, int width, int classes, const struct logistic_regression_options *options);

/* Whether no step led away from zero, although the gradient is not small: numbers near the ends of double. */
bool logistic_regression_stuck(const struct logistic_regression *model);

/* predicted [n]: the class with the greatest decision value, the first of equals; of two classes the
 * second if the value is above 0.  probability [n], unless NULL: of the predicted class. */
void logistic_regression_predict(const struct logistic_regression *model, const float *x,
    int64_t n, int32_t *predicted, double *probability);
void logistic_regression_free(struct logistic_regression *model);

#endif
