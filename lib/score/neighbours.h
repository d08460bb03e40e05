/*
 * neighbours - the label that most of the nearest labelled vectors have, as scikit-learn's KNeighborsClassifier tells it.
 *
 * Euclidean distance, in double, every neighbour counts the same.  Of equal distances the earlier row is nearer (where
 * scikit-learn leaves it open), of equally frequent labels the first one counts.
 */
#ifndef SCORE_NEIGHBOURS_H
#define SCORE_NEIGHBOURS_H

#include <stdint.h>

enum { NEIGHBOURS_MOST = 1024 };

struct neighbours {
	const float *x;	      /* [n, width], borrowed */
	const int32_t *label; /* [n], 0..classes-1, borrowed */
	int64_t n;
	int width, classes;
	int k; /* at most n and NEIGHBOURS_MOST */
};

/* predicted [count]: the label; probability [count]: the share of the k neighbours that have it. */
void neighbours_predict(const struct neighbours *neighbours, const float *x,
    int64_t count, int32_t *predicted, double *probability);

#endif
