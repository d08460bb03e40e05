/*
 * legacy_sum - the "sum" of MoEE's released code (Li and Zhou 2024) for classification and clustering, where it is none of
 * similarities: what two classifiers or two clusterings say, numbers of classes or clusters, is averaged as if it
 * were a quantity.  For audit of published figures alone:
 *
 *	classification	the label is (y + w y') / (1 + w), cut to a whole number: of two classes and w = 1 the second where both
 *			say so, which favours the first
 *	clustering	the cluster is (a + w a') / (1 + w), each value a cluster of its own, up to k^2 of them, which
 *			raises the V-measure
 */
#ifndef SCORE_LEGACY_SUM_H
#define SCORE_LEGACY_SUM_H

#include <stdint.h>

#include "score/report.h"

/* (one + weight two) / (1 + weight), each step rounded as numpy does. */
double legacy_sum(double one, double two, double weight);

/* The clusters of the average of two clusterings [n]; replaces `one`, returns how many there are. */
int32_t legacy_sum_clusters(int32_t *one, const int32_t *two, int64_t n, double weight);

/* The weight and the fields, unless the weight is 0. */
void legacy_sum_describe(
    struct report *report, const char *const fields[2], double weight);

#endif
