/*
 * communities - groups of vectors that lie near a centre, as sentence-transformers' util.community_detection finds them.
 *
 * Every row is a candidate centre, with the rows whose cosine to it is at least the threshold, itself among them.  From
 * the candidate with most rows on (of equals the first), one that no group has yet makes a group of its rows that
 * none has, if these are `least` at least.
 *
 * A cosine near the threshold is computed again in double and narrowed to float32: groups depend on no
 * tile, thread or kernel.  The reference's float32 products may decide otherwise within some 1e-7 of the threshold.
 *
 * Time: n^2 products, and again for the candidates that are looked at.  Memory: 24 bytes a row beside the vectors and
 * their groups; no matrix of pairs.
 */
#ifndef SEARCH_COMMUNITIES_H
#define SEARCH_COMMUNITIES_H

#include <stdint.h>

#include "base/progress.h"

struct communities {
	int32_t count;
	int32_t *group; /* [n], in the order in which they were made; -1: none */
	double *
	    distance; /* [n]: 1 - cosine to the group's centre, above 0; 0: it is the centre, or in none */
};

/* units [n, width] of length 1 (similarity_unit); n below 2^31.  Counts rows on `progress`.  The caller frees both
 * arrays. */
struct communities communities_find(const float *units, int64_t n, int width,
    float threshold, int64_t least, struct progress *progress);

#endif
