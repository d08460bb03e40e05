/*
 * communities - community detection by a cosine threshold, as sentence-transformers' util.community_detection.
 *
 * Each row is a candidate centre; its neighbours are the rows whose cosine to it reaches the threshold, itself included.
 * Candidates are visited by number of neighbours, descending (ties: the earlier row); one that is in no group yet forms
 * a group of its ungrouped neighbours if they are at least `least`.
 *
 * A cosine near the threshold is recomputed in double and rounded to float32, so that groups do not depend on tile,
 * thread or kernel.  sentence-transformers' float32 products may differ within some 1e-7 of the threshold.
 *
 * Time: n^2 dot products, and n more for each candidate visited.  Memory: 24 bytes per row besides vectors and result.
 */
#ifndef SEARCH_COMMUNITIES_H
#define SEARCH_COMMUNITIES_H

#include <stdint.h>

#include "base/progress.h"

struct communities {
	int32_t count;
	int32_t *group; /* [n], numbered in order of creation; -1: none */
	double *
	    distance; /* [n]: 1 - cosine to the group's centre, above 0; 0: the centre, or no group */
};

/* units [n, width]: unit vectors (similarity_unit); n < 2^31.  Counts rows on `progress`.  The caller frees both
 * arrays. */
struct communities communities_find(const float *units, int64_t n, int width,
    float threshold, int64_t least, struct progress *progress);

#endif
