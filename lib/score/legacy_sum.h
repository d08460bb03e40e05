/*
 * legacy_sum - MoEE's "sum" for classification and clustering as its released code computes it (Li and Zhou 2024).
 * It averages the class or cluster numbers that two embeddings give, as if a number were a quantity.  Use it only to
 * audit published figures:
 *
 *	classification	the label is (y + w y') / (1 + w), truncated.  With two classes and w = 1 the second class
 *			needs both votes, so the first is favoured.
 *	clustering	the cluster is (a + w a') / (1 + w); each distinct value is a cluster, up to k^2 of them,
 *			which raises the V-measure
 */
#ifndef SCORE_LEGACY_SUM_H
#define SCORE_LEGACY_SUM_H

#include <stdint.h>

#include "score/report.h"

/* (one + weight two) / (1 + weight), each step rounded, as in numpy. */
double legacy_sum(double one, double two, double weight);

/* Averages two clusterings [n] into `one`; returns the number of clusters. */
int32_t legacy_sum_clusters(int32_t *one, const int32_t *two, int64_t n, double weight);

/* Adds weight and fields to the report's settings, unless the weight is 0. */
void legacy_sum_describe(
    struct report *report, const char *const fields[2], double weight);

#endif
