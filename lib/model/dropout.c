#include "model/dropout.h"

#include "base/err.h"
#include "base/rng.h"
#include "model/model_struct.h"

void
dropout_begin(struct model *model, double rate, uint64_t seed)
{
	struct spec *spec = &model->spec;
	bool known = false;

	for (int i = 0; i < SPEC_DROPS; i++) {
		double own = spec->dropout[i];
		known |= own >= 0;
		spec->dropping[i] = own < 0 ? 0 : rate < 0 ? own : rate;
		if (!(spec->dropping[i] < 1))
			tree_die(model->config,
			    "has the dropout rate %g; it must be below 1",
			    spec->dropping[i]);
	}
	if (!known)
		die("%s: dropout is not supported for such a model; train it without",
		    model->dir);
	if (nn_device() && dropout_is(spec))
		die("%s: dropout is computed on processors, not on a device", model->dir);
	model->dropout_seed = seed;
}

bool
dropout_is(const struct spec *spec)
{
	for (int i = 0; i < SPEC_DROPS; i++)
		if (spec->dropping[i] > 0)
			return true;
	return false;
}

bool
dropout_at(
    const struct batch_dropout *dropout, const struct spec *spec, enum spec_drop place)
{
	return dropout->keys && spec->dropping[place] > 0;
}

static uint64_t
salt_of(const struct batch_dropout *dropout, enum spec_drop place, int layer)
{
	int64_t key[] = { place, layer };

	return rng_hash(dropout->seed, key, sizeof key);
}

void
dropout_rows(const struct batch_dropout *dropout, const struct spec *spec,
    enum spec_drop place, int layer, float *x, size_t first, size_t T, size_t C)
{
	if (dropout_at(dropout, spec, place))
		nn_dropout(x, x, C, dropout->keys + first, NULL,
		    salt_of(dropout, place, layer), spec->dropping[place], T, C);
}

struct nn_attention_dropout
dropout_of_weights(
    const struct batch_dropout *dropout, const struct spec *spec, int layer)
{
	if (!dropout_at(dropout, spec, SPEC_DROP_WEIGHTS))
		return (struct nn_attention_dropout){ 0 };
	return (struct nn_attention_dropout){ .keys = dropout->keys,
		.salt = salt_of(dropout, SPEC_DROP_WEIGHTS, layer),
		.rate = spec->dropping[SPEC_DROP_WEIGHTS] };
}
