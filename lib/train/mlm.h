/*
 * mlm - masks for masked language modelling.
 *
 * Devlin et al. 2019, section 3.1: of the tokens that are not special a share is chosen; 80 % of
 * those become the mask token, 10 % a random one, 10 % stay; the model predicts what they were.
 */
#ifndef TRAIN_MLM_H
#define TRAIN_MLM_H

#include <stdint.h>

struct mlm_options {
	double share; /* chance of each token that is not special */
	uint64_t seed;
	int vocabulary;		/* random tokens are below it */
	int mask;		/* id of the mask token */
	const int32_t *special; /* ids that are never chosen */
	int specials;
};

/*
 * Mask ids[tokens] in place.  positions and targets (room for `tokens` each) receive the chosen
 * tokens, rising, and what they were.  Returns how many: one at least where any may be chosen.
 * The random numbers depend on (seed, step) alone, so that a resumed run masks the same.
 */
int64_t mlm_mask(int32_t *ids, int64_t tokens, int32_t *positions, int32_t *targets,
    const struct mlm_options *options, int64_t step);

#endif
