/* Rotary positions and their scaling, as transformers spells them in config.json. */
#include <math.h>
#include <string.h>

#include "model/family/family.h"

/* Static NTK: the base grows by the factor, and all angles shrink so that the slowest of them
 * turns exactly factor times slower. */
static void
scale_ntk(struct spec_rotary *rotary, const struct tree *scaling, double factor, int D)
{
	if (tree_get(scaling, "mixed_b"))
		tree_die(tree_get(scaling, "mixed_b"),
		    "'mixed_b' of rope_scaling is not supported; it must be null");
	rotary->base *= factor;
	rotary->divisor = pow(factor, 2.0 / D);
}

/* How much of a frequency stays, as x goes from `from` to `to`; the rest is divided by the factor. */
static double
scaled_inverse(double x, double from, double to, double factor)
{
	double kept = fmin(fmax((x - from) / (to - from), 0), 1);

	return 1 / (kept + (1 - kept) / factor);
}

static const double TURN = 6.283185307179586;

/* The tokens of a text before the stretch. */
static double
tokens_before(
    const struct spec *spec, const struct tree *config, const struct tree *scaling)
{
	const char *key = "original_max_position_embeddings";
	double tokens = tree_real(config, key, tree_real(scaling, key, spec->positions));

	if (!(tokens >= 1 && tokens < 1e9))
		tree_die(scaling, "'%s' is %g; it must be 1 or more", key, tokens);
	return tokens;
}

/* By the turns that an angle makes within those tokens. */
static void
scale_llama3(struct spec_rotary *rotary, const struct tree *scaling, double factor,
    double tokens, int D)
{
	double low = tree_real(scaling, "low_freq_factor", 0);
	double high = tree_real(scaling, "high_freq_factor", 0);

	if (!(low > 0 && high > low && high < 1e9))
		tree_die(scaling,
		    "'low_freq_factor' and 'high_freq_factor' of the rope scaling are %g and %g; they must be above 0, and the second the greater",
		    low, high);
	for (int i = 0; i < D / 2; i++)
		rotary->own[i] = scaled_inverse(
		    tokens * pow(rotary->base, -2.0 * i / D) / TURN, low, high, factor);
}

/* The index of the angle that makes so many turns. */
static double
index_of(const struct spec_rotary *rotary, double tokens, double turns, int D)
{
	return D * log(tokens / (turns * TURN)) / (2 * log(rotary->base));
}

static double
yarn_magnitude(const struct tree *scaling, const char *key, double factor)
{
	return factor > 1 ? 0.1 * tree_real(scaling, key, 1) * log(factor) + 1 : 1;
}

/* By the index of the angle (Peng et al. 2024); q and k grow. */
static void
scale_yarn(struct spec_rotary *rotary, const struct tree *scaling, double factor,
    double tokens, int D)
{
	double fast = tree_real(scaling, "beta_fast", 32);
	double slow = tree_real(scaling, "beta_slow", 1);

	if (!(slow > 0 && fast >= slow && fast < 1e9))
		tree_die(scaling,
		    "'beta_fast' and 'beta_slow' of the rope scaling are %g and %g; they must be above 0, and the first not the lesser",
		    fast, slow);
	double first = index_of(rotary, tokens, fast, D);
	double last = index_of(rotary, tokens, slow, D);
	if (tree_boolean(scaling, "truncate", true)) {
		first = floor(first);
		last = ceil(last);
	}
	first = fmax(first, 0);
	last = fmin(last, D - 1);
	last += first == last ? 0.001 : 0; /* as the reference does */
	for (int i = 0; i < D / 2; i++)
		rotary->own[i] = scaled_inverse(i, last, first, factor);
	bool both = tree_real(scaling, "mscale", 0) != 0 &&
		    tree_real(scaling, "mscale_all_dim", 0) != 0;
	double grown = both ? yarn_magnitude(scaling, "mscale", factor) /
				  yarn_magnitude(scaling, "mscale_all_dim", factor)
			    : yarn_magnitude(NULL, "mscale", factor);
	grown = tree_real(scaling, "attention_factor", grown);
	rotary->attention = grown * grown;
}

static void
scale(struct spec *spec, struct spec_rotary *rotary, const struct tree *config,
    const struct tree *scaling)
{
	int D = spec->head_size < NN_MAX_HEAD ? spec->head_size : NN_MAX_HEAD;
	const char *type =
	    tree_string(scaling, "rope_type", tree_string(scaling, "type", "default"));
	double factor = tree_real(scaling, "factor", 0);

	if (!strcmp(type, "default"))
		return;
	bool llama3 = !strcmp(type, "llama3"), yarn = !strcmp(type, "yarn");
	if (!llama3 && !yarn && strcmp(type, "linear") && strcmp(type, "dynamic") &&
	    strcmp(type, "ntk"))
		tree_die(scaling,
		    "the rope scaling '%s' is not supported; supported are default, linear, dynamic, ntk, llama3 and yarn",
		    type);
	double tokens = llama3 || yarn ? tokens_before(spec, config, scaling) : 0;
	if (yarn)
		factor = tree_real(scaling, "factor", spec->positions / tokens);
	if (!(factor >= 1 && factor <= 1024))
		tree_die(scaling,
		    "'factor' of the rope scaling is %g; it must be in 1..1024", factor);
	if (!strcmp(type, "linear")) {
		rotary->divisor = factor;
	} else if (!strcmp(type, "ntk")) {
		scale_ntk(rotary, scaling, factor, spec->head_size);
	} else if (llama3) {
		scale_llama3(rotary, scaling, factor, tokens, D);
	} else if (yarn) {
		scale_yarn(rotary, scaling, factor, tokens, D);
	} else {
		rotary->factor = factor;
		rotary->trained =
		    (int)tree_integer_in(config, "max_position_embeddings", 1, 1 << 24);
		spec->positions = 1 << 24;
	}
}

void
family_rotary_table(struct spec *spec, int which, const struct tree *config,
    const struct tree *parameters, double base)
{
	struct spec_rotary *rotary = &spec->rotary[which];

	rotary->base = tree_real(parameters, "rope_theta", base);
	rotary->divisor = 1;
	if (tree_real(config, "partial_rotary_factor", 1) != 1 ||
	    tree_real(parameters, "partial_rotary_factor", 1) != 1)
		tree_die(config, "'partial_rotary_factor' must be 1");
	if (parameters)
		scale(spec, rotary, config, parameters);
}

void
family_rotary(struct spec *spec, const struct tree *config, double base)
{
	const struct tree *parameters = tree_get(config, "rope_scaling");

	if (!parameters || (parameters->kind == TREE_OBJECT && !parameters->count))
		parameters = tree_get(config, "rope_parameters");
	family_rotary_table(
	    spec, 0, config, parameters, tree_real(config, "rope_theta", base));
	spec->rotaries = 1;
}

void
family_rotary_kinds(struct spec *spec, const struct tree *config, const double bases[2])
{
	static const char *const kinds[] = { "full_attention", "sliding_attention" };
	const struct tree *parameters = tree_get(config, "rope_parameters");

	if (tree_get(config, "rope_scaling"))
		tree_die(tree_get(config, "rope_scaling"),
		    "'rope_scaling' is not supported here; it must be null");
	for (int i = FAMILY_FULL; i <= FAMILY_SLIDING; i++) {
		const struct tree *own = tree_get(parameters, kinds[i]);
		const char *type = tree_string(own, "rope_type", "default");
		if (strcmp(type, "default"))
			tree_die(own, "'rope_type' is '%s'; only 'default' is supported",
			    type);
		family_rotary_table(spec, i, config, own, bases[i]);
	}
	spec->rotaries = 2;
}
