#include "train/mlm.h"

#include <stdbool.h>

#include "base/rng.h"

static bool
special(const struct mlm_options *options, int32_t id)
{
	for (int i = 0; i < options->specials; i++)
		if (options->special[i] == id)
			return true;
	return false;
}

static int32_t
replacement(const struct mlm_options *options, struct rng *rng, int32_t id)
{
	double draw = rng_uniform(rng);

	if (draw < 0.8)
		return options->mask;
	if (draw < 0.9)
		return (int32_t)rng_below(rng, (uint64_t)options->vocabulary);
	return id;
}

int64_t
mlm_mask(int32_t *ids, int64_t tokens, int32_t *positions, int32_t *targets,
    const struct mlm_options *options, int64_t step)
{
	struct rng rng = rng_seed(options->seed, (uint64_t)step);
	int64_t chosen = 0, candidates = 0, spare = 0;

	for (int64_t t = 0; t < tokens; t++) {
		if (special(options, ids[t]))
			continue;
		/* a reservoir of one, should the draws choose none */
		if (rng_below(&rng, (uint64_t)++candidates) == 0)
			spare = t;
		if (rng_uniform(&rng) >= options->share)
			continue;
		positions[chosen] = (int32_t)t;
		targets[chosen++] = ids[t];
	}
	if (!chosen && candidates) {
		positions[0] = (int32_t)spare;
		targets[chosen++] = ids[spare];
	}
	for (int64_t m = 0; m < chosen; m++)
		ids[positions[m]] = replacement(options, &rng, targets[m]);
	return chosen;
}
