/*
 * partition - how well a clustering agrees with labels.
 *
 * Labels are 0..labels-1, clusters 0..clusters-1; n > 0.  Natural logarithms.
 */
#ifndef PARTITION_H
#define PARTITION_H

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

#endif
