/*
 * mlm - masks for masked language modelling.
 *
 * Devlin et al. 2019, section 3.1: a share of the tokens that are not special is chosen for prediction.  Of the chosen, 80 %
 * become the mask token, 10 % a random token, and 10 % stay.
 */
#ifndef TRAIN_MLM_H
#define TRAIN_MLM_H

#include <stdint.h>

struct mlm_options {
	double share; /* chance of each token that is not special */
	uint64_t seed;
	int vocabulary;		/* random tokens are below it */
	int mask;		/* id of the mask token */
	const int32_t *special; /* [specials] ids that are never chosen */
	int specials;
};

/*
 * Masks ids[tokens] in place.  positions and targets (room for `tokens` each) receive the positions of the chosen tokens,
 * rising, and their ids before.  Returns their number: at least one if any may be chosen.  Random numbers depend on
 * (seed, step) alone, so a resumed run masks the same tokens.
 */
int64_t mlm_mask(int32_t *ids, int64_t tokens, int32_t *positions, int32_t *targets,
    const struct mlm_options *options, int64_t step);

#endif
