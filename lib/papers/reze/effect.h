/*
 * effect - how far debiased targets (debias.h) are from the relations that they were made of, for each source.
 *
 * A check of the manipulation: where no component is shrunk and all cosines are near 1, the targets are the relations.
 */
#ifndef PAPERS_REZE_EFFECT_H
#define PAPERS_REZE_EFFECT_H

#include <stdint.h>

#include "papers/reze/statistics.h"

struct effect;

/* Borrows the statistics, which must be solved. */
struct effect *effect_new(const struct statistics *statistics);

/* Adds relations and their targets, [count, width], of sources[count]. */
void effect_add(struct effect *effect, const float *relations, const double *targets,
    const int *sources, int64_t count);

/*
 * Prints TSV, a line for each source with pairs, and `all`: source, pairs, shrunk (the share of the active components whose factor is
 * not 1; of `all` the mean of its sources), cosine of target and relation (mean over pairs), least (the smallest), distance (the mean
 * of its square).
 */
void effect_print(const struct effect *effect);
void effect_free(struct effect *effect);

#endif
