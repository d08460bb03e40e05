/*
 * knn - k-nearest-neighbours classification, as scikit-learn's KNeighborsClassifier.
 *
 * Squared Euclidean distance in double, uniform weights.  Ties: the earlier row counts as nearer (scikit-learn leaves this
 * open), and the label with the lower number wins the vote.
 */
#ifndef SCORE_KNN_H
#define SCORE_KNN_H

#include <stdint.h>

enum { KNN_MOST = 1024 };

struct knn {
	const float *x;	      /* [n, width], borrowed */
	const int32_t *label; /* [n], 0..classes-1, borrowed */
	int64_t n;
	int width, classes;
	int k; /* at most n and KNN_MOST */
};

/* x [count, width].  Writes predicted [count], the label, and probability [count], the share of the k neighbours
 * with that label. */
void knn_predict(const struct knn *knn, const float *x, int64_t count, int32_t *predicted,
    double *probability);

/* The k nearest rows of each of x [count, width]: writes rows [count, k], the nearest first.  Needs no labels. */
void knn_rows(const struct knn *knn, const float *x, int64_t count, int64_t *rows);

#endif
