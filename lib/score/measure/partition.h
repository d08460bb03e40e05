/*
 * partition - how well a clustering agrees with labels, or with another clustering.
 *
 * Labels are 0..labels-1, clusters 0..clusters-1; n > 0.  Natural logarithms.
 */
#ifndef SCORE_MEASURE_PARTITION_H
#define SCORE_MEASURE_PARTITION_H

#include <stdint.h>

/*
 * V-measure with beta 1 (Rosenberg and Hirschberg 2007): the harmonic mean of homogeneity and
 * completeness.  Entropies of 0 count as perfect.
 */
struct v_measure {
	double homogeneity, completeness, v;
};
struct v_measure partition_v_measure(const int32_t *label, int32_t labels,
    const int32_t *cluster, int32_t clusters, int64_t n);

/*
 * Adjusted mutual information (Vinh, Epps and Bailey 2010, eq. 24a for the expectation E),
 *	(MI - E) / ((H(labels) + H(clusters)) / 2 - E),
 * 1 when both have one part only, 0 when one of them has.
 */
double partition_ami(const int32_t *label, int32_t labels, const int32_t *cluster,
    int32_t clusters, int64_t n);

/*
 * Two clusterings, neither of which is the truth: every number is the same with their roles changed.
 *
 *	ami		as above
 *	nmi		mutual information / mean of the entropies: V-measure
 *	jaccard		of the pairs of points that are together in either, those that are in both; 1 where there
 *			is no such pair
 *	matched		share of points in clusters that go together, in the matching one to one that makes it
 *			greatest (Kuhn 1955)
 *	identical	share of points whose two clusters have the same members
 */
struct partition_agreement {
	double ami, nmi, jaccard, matched, identical;
};
struct partition_agreement partition_agreement(const int32_t *label, int32_t labels,
    const int32_t *cluster, int32_t clusters, int64_t n);

#endif
