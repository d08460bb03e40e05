/*
 * kmeans - mini-batch k-means (Sculley 2010) as scikit-learn's MiniBatchKMeans computes it.
 *
 * k-means++ on 3 x batch sampled rows, n_init 1, max_iter 100, no tolerance, ten batches without
 * improvement end it, centres with few members are replaced; the random stream is numpy's, draw
 * by draw.  All arithmetic in double: labels equal scikit-learn's on the same data as
 * float64.  (On float32 data scikit-learn computes in float32 and may part ways.)
 */
#ifndef SCORE_KMEANS_H
#define SCORE_KMEANS_H

#include <stdbool.h>
#include <stdint.h>

#include "score/report.h"

struct kmeans_options {
	int clusters, batch;
	uint32_t seed;
	bool
	    by_choice; /* batches by choice(p=uniform), scikit-learn >= 1.9; else by randint */
};

/* x [n, width], finite; 1 <= clusters <= n.  assigned [n]: 0..clusters-1.  Returns the steps. */
int64_t kmeans_fit(int32_t *assigned, const float *x, int64_t n, int width,
    const struct kmeans_options *options);

/* The settings that decide what comes out. */
void kmeans_describe(struct report *report, uint32_t seed, int batch, bool by_choice);

#endif
