/*
 * kmeans - k-means as scikit-learn computes it: mini-batch, Lloyd's, and their k-means++ start.
 *
 * Arithmetic is in double and the random stream is numpy's, draw by draw, so the clusters equal scikit-learn's on the
 * same data as float64.  (On float32 data scikit-learn computes in float32 and may differ.)  In all functions
 * x [n, width] is finite, row-major, and 1 <= clusters <= n.
 */
#ifndef SCORE_KMEANS_H
#define SCORE_KMEANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mt19937.h"
#include "score/report.h"

/*
 * Mini-batch k-means (Sculley 2010): MiniBatchKMeans(n_init=1, max_iter=100, tol=0, max_no_improvement=10,
 * reassignment_ratio=0.01).  k-means++ runs on 3 x batch sampled rows.
 */
struct kmeans_options {
	int clusters, batch;
	uint32_t seed;
	bool
	    by_choice; /* draw batches by choice(p=uniform), as scikit-learn >= 1.9; false: by randint */
};

/* Writes assigned [n], 0..clusters-1; returns the number of steps. */
int64_t kmeans_fit(int32_t *assigned, const float *x, int64_t n, int width,
    const struct kmeans_options *options);

/* Adds to the report the settings that change the result. */
void kmeans_minibatch_describe(
    struct report *report, uint32_t seed, int batch, bool by_choice);

/*
 * Lloyd's k-means (1982): KMeans(n_init=1, max_iter=300, tol=1e-4).  It ends when no row changes its cluster, or when
 * the squared moves of the centres sum to at most 1e-4 x the mean variance of a component.  An empty cluster takes the
 * row that is farthest from its centre.
 *
 * Memory: 8 n width bytes beside x, and at most 16 n (4 + log clusters) bytes.
 */
struct kmeans_lloyd_result {
	int32_t *cluster; /* [n], 0..clusters-1 */
	double *distance; /* [n], Euclidean, to the centre of the row's cluster */
	double inertia;	  /* sum of squared distances */
	int steps;
};

/* The caller frees both arrays. */
struct kmeans_lloyd_result kmeans_lloyd(
    const float *x, int64_t n, int width, int clusters, uint32_t seed);

/*
 * k-means++ (Arthur and Vassilvitskii 2007): each further centre is the best of 2 + log(clusters) rows, drawn in
 * proportion to their squared distance to the nearest centre.  Writes centres [clusters, width].
 */
void kmeans_plusplus(double *centres, struct mt19937 *mt, const double *x, int64_t n,
    int width, int clusters);

/* |x|^2 and |x - y|^2 of vectors [width] */
double kmeans_square(const double *x, int width);
double kmeans_square_distance(const double *x, const double *y, int width);

/* Writes nearest [count], the nearest centre of each row of x [count, width], the first of equals.
 * norms [clusters]: |centre|^2; products [count, clusters]: scratch. */
void kmeans_nearest(int32_t *nearest, const double *x, int count, const double *centres,
    const double *norms, int clusters, int width, double *products);

#endif
