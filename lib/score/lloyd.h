/*
 * lloyd - k-means over all rows (Lloyd 1982) as scikit-learn's KMeans computes it.
 *
 * k-means++ once (kmeans_start.h), at most 300 steps, until no row changes its cluster or the centres move by less
 * than 1e-4 of the mean variance of a component, squared; a cluster that loses all its rows takes the row that is
 * farthest from its centre.  In double, on components less their means: the clusters are scikit-learn's on the same
 * data as float64.  (On float32 data scikit-learn computes in float32 and may part ways.)
 *
 * Memory: 8 bytes a value beside x; with k clusters 16 (4 + log k) bytes a row at most.
 */
#ifndef SCORE_LLOYD_H
#define SCORE_LLOYD_H

#include <stdint.h>

struct lloyd_result {
	int32_t *cluster; /* [n], 0..clusters-1 */
	double *distance; /* [n], Euclidean, to the centre of the row's cluster */
	double inertia;	  /* sum of squared distances */
	int steps;
};

/* x [n, width], finite; 1 <= clusters <= n.  The caller frees both arrays. */
struct lloyd_result lloyd_fit(
    const float *x, int64_t n, int width, int clusters, uint32_t seed);

#endif
