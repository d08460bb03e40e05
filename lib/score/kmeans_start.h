/*
 * kmeans_start - k-means++ (Arthur and Vassilvitskii 2007) as scikit-learn draws it: each further centre is the best of
 * 2 + log(clusters) rows, drawn in proportion to their squared distance to the centres so far.
 */
#ifndef SCORE_KMEANS_START_H
#define SCORE_KMEANS_START_H

#include <stdint.h>

#include "base/mt19937.h"

/* centres [clusters, width] become rows of rows [n, width]; 1 <= clusters <= n. */
void kmeans_start(double *centres, struct mt19937 *mt, const double *rows, int64_t n,
    int width, int clusters);

/* The squared length of a vector. */
double kmeans_square(const double *x, int width);

#endif
