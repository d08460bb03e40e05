/*
 * partition - agreement of a clustering with labels, or with another clustering, as scikit-learn computes it.
 *
 * Labels are 0..labels-1, clusters 0..clusters-1; n > 0.  Natural logarithms.
 */
#ifndef SCORE_MEASURE_PARTITION_H
#define SCORE_MEASURE_PARTITION_H

#include <stdint.h>

/*
 * V-measure with beta 1 (Rosenberg and Hirschberg 2007): the harmonic mean of homogeneity and
 * completeness.  With an entropy of 0 the ratio counts as 1.
 */
double partition_v_measure(const int32_t *label, int32_t labels, const int32_t *cluster,
    int32_t clusters, int64_t n);

/*
 * Adjusted mutual information (Vinh, Epps and Bailey 2010, eq. 24a for the expectation E),
 *	(MI - E) / ((H(labels) + H(clusters)) / 2 - E),
 * 1 if both have a single part, 0 if only one of them has.
 */
double partition_ami(const int32_t *label, int32_t labels, const int32_t *cluster,
    int32_t clusters, int64_t n);

/*
 * Agreement of two clusterings; symmetric.
 *
 *	ami		as above
 *	nmi		mutual information / mean of the entropies: V-measure
 *	jaccard		|A and B| / |A or B| of the sets of point pairs in the same cluster; 1 if both are empty
 *	matched		share of points in matched clusters, under the best one-to-one matching (assignment.h)
 *	identical	share of points whose two clusters have the same members
 */
struct partition_agreement {
	double ami, nmi, jaccard, matched, identical;
};
struct partition_agreement partition_agreement(const int32_t *label, int32_t labels,
    const int32_t *cluster, int32_t clusters, int64_t n);

#endif
