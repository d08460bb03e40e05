#include "model/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static bool
shape(bool present, int64_t *rows, int64_t r, int64_t *columns, int64_t c)
{
	*rows = r;
	*columns = c;
	return present;
}

void
spec_layers(struct spec *spec, int inner)
{
	for (int i = 0; i < spec->layers; i++)
		spec->layer[i] =
		    (struct spec_layer){ .stored = i, .norm1 = true, .inner = inner };
}

void
spec_refuse_shared(const struct spec *spec, const char *dir)
{
	if (spec->layers && spec->layer[spec->layers - 1].stored < spec->layers - 1)
		die("%s: its blocks share their weights; experts of such a model are not known",
		    dir);
}

int
spec_embedding_width(const struct spec *spec)
{
	return spec->embedding_width ? spec->embedding_width : spec->width;
}

/* Of the attention and the router. */
static bool
attention_shape(const struct spec *spec, const struct spec_layer *layer,
    enum block_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, D = spec->head_size;
	int64_t q = spec->heads * D, kv = spec->kv_heads * D;
	bool all = spec->qk_norm == SPEC_QK_ALL, normed = spec->qk_norm != SPEC_QK_PLAIN;

	switch (which) {
	case BLOCK_DISTANCE:
		return shape(spec->distance.each, rows, spec->distance.buckets, columns,
		    spec->heads);
	case BLOCK_Q: return shape(true, rows, q, columns, C);
	case BLOCK_Q_BIAS: return shape(spec->qkv_bias, rows, q, columns, 0);
	case BLOCK_K:
	case BLOCK_V: return shape(true, rows, kv, columns, C);
	case BLOCK_K_BIAS:
	case BLOCK_V_BIAS: return shape(spec->qkv_bias, rows, kv, columns, 0);
	case BLOCK_Q_NORM: return shape(normed, rows, all ? q : D, columns, 0);
	case BLOCK_K_NORM: return shape(normed, rows, all ? kv : D, columns, 0);
	case BLOCK_OUT_NORM: return shape(spec->branch_norms, rows, C, columns, 0);
	case BLOCK_OUT: return shape(true, rows, C, columns, q);
	case BLOCK_OUT_BIAS: return shape(spec->out_bias, rows, C, columns, 0);
	case BLOCK_ROUTER:
		return shape(layer->mixture, rows, spec->mixture.count, columns, C);
	case BLOCK_SHARED_GATE:
		return shape(layer->mixture && layer->inner && spec->mixture.shared_gate,
		    rows, 1, columns, C);
	case BLOCK_MIXTURE_BIAS:
		return shape(layer->mixture && spec->mixture.bias, rows, C, columns, 0);
	default: return false;
	}
}

bool
spec_block_shape(const struct spec *spec, int index, enum block_parameter which,
    int64_t *rows, int64_t *columns)
{
	const struct spec_layer *layer = &spec->layer[index];
	int64_t C = spec->width, I = layer->inner;
	bool biased = spec->norm_bias, gated = I && spec->gated;

	switch (which) {
	case BLOCK_NORM1: return shape(layer->norm1, rows, C, columns, 0);
	case BLOCK_NORM1_BIAS: return shape(layer->norm1 && biased, rows, C, columns, 0);
	case BLOCK_NORM2: return shape(true, rows, C, columns, 0);
	case BLOCK_NORM2_BIAS: return shape(biased, rows, C, columns, 0);
	case BLOCK_DOWN_NORM: return shape(spec->branch_norms, rows, C, columns, 0);
	case BLOCK_UP: return shape(I, rows, I, columns, C);
	case BLOCK_UP_BIAS: return shape(I && spec->up_bias, rows, I, columns, 0);
	case BLOCK_GATE: return shape(gated, rows, I, columns, C);
	case BLOCK_GATE_BIAS: return shape(gated && spec->up_bias, rows, I, columns, 0);
	case BLOCK_DOWN: return shape(I, rows, C, columns, I);
	case BLOCK_DOWN_BIAS: return shape(I && spec->down_bias, rows, C, columns, 0);
	default: return attention_shape(spec, layer, which, rows, columns);
	}
}

bool
spec_mixture_shape(
    const struct spec *spec, enum mlp_parameter which, int64_t *rows, int64_t *columns)
{
	const struct spec_mixture *m = &spec->mixture;
	int64_t C = spec->width, I = m->inner;
	bool turned = m->turned;

	switch (which) {
	case MLP_UP: return shape(true, rows, I, columns, C);
	case MLP_UP_BIAS: return shape(m->up_bias, rows, I, columns, 0);
	case MLP_GATE: return shape(spec->gated, rows, I, columns, C);
	case MLP_GATE_BIAS: return shape(spec->gated && m->up_bias, rows, I, columns, 0);
	case MLP_DOWN: return shape(true, rows, turned ? I : C, columns, turned ? C : I);
	case MLP_DOWN_BIAS: return shape(m->down_bias, rows, C, columns, 0);
	case MLP_PARAMETERS: break;
	}
	return false;
}

bool
spec_stem_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, E = spec_embedding_width(spec);
	bool biased = spec->norm_bias, embedded = spec->embedding_norm;
	bool shared = spec->distance.buckets && !spec->distance.each;
	bool projected = spec->embedding_width;

	switch (which) {
	case STEM_TOKENS: return shape(true, rows, spec->vocabulary, columns, E);
	case STEM_POSITIONS:
		return shape(spec->position_table, rows,
		    spec->position_first + spec->positions, columns, E);
	case STEM_TYPES: return shape(spec->types > 0, rows, spec->types, columns, E);
	case STEM_TASKS:
		return shape(
		    spec->tasks_of_text > 0, rows, spec->tasks_of_text, columns, E);
	case STEM_DISTANCE:
		return shape(shared, rows, spec->distance.buckets, columns, spec->heads);
	case STEM_NORM: return shape(embedded, rows, E, columns, 0);
	case STEM_NORM_BIAS: return shape(embedded && biased, rows, E, columns, 0);
	case STEM_PROJECT: return shape(projected, rows, C, columns, E);
	case STEM_PROJECT_BIAS: return shape(projected, rows, C, columns, 0);
	case STEM_FINAL_NORM: return shape(spec->prenorm, rows, C, columns, 0);
	case STEM_FINAL_NORM_BIAS:
		return shape(spec->prenorm && biased, rows, C, columns, 0);
	case STEM_MLM_DENSE: return shape(true, rows, E, columns, C);
	case STEM_MLM_DENSE_BIAS: return shape(spec->mlm_bias, rows, E, columns, 0);
	case STEM_MLM_NORM: return shape(true, rows, E, columns, 0);
	case STEM_MLM_NORM_BIAS: return shape(biased, rows, E, columns, 0);
	case STEM_OUTPUT: return shape(spec->untied, rows, spec->vocabulary, columns, E);
	case STEM_OUTPUT_BIAS:
		return shape(spec->output_bias, rows, spec->vocabulary, columns, 0);
	case STEM_PARAMETERS: break;
	}
	return false;
}

void
spec_check(const struct spec *spec, const struct tree *config)
{
	if (!spec->layers)
		return;
	if (spec->heads % spec->kv_heads)
		tree_die(config, "%d attention heads cannot share %d key/value heads",
		    spec->heads, spec->kv_heads);
	if (spec->head_size < 1 || spec->head_size > NN_MAX_HEAD)
		tree_die(config,
		    "the size of an attention head is %d; it must be in 1..%d",
		    spec->head_size, NN_MAX_HEAD);
	if (spec->rotaries && spec->head_size % 2)
		tree_die(config, "rotary positions need an even head size, not %d",
		    spec->head_size);
	if (!(spec->norm_eps > 0 && spec->norm_eps < 1))
		tree_die(config, "the epsilon of the norms is %g; it must be in 0..1",
		    (double)spec->norm_eps);
	for (int i = 0; i < spec->rotaries; i++) {
		if (!(spec->rotary[i].base > 1 && isfinite(spec->rotary[i].base)))
			tree_die(config, "the rotary base is %g; it must be above 1",
			    spec->rotary[i].base);
		if (spec->rotary[i].factor != 0 && spec->head_size < 4)
			tree_die(config,
			    "dynamic rope scaling needs heads of size 4 or more, not %d",
			    spec->head_size);
	}
	const struct spec_mixture *m = &spec->mixture;
	if (m->count < 0 || m->count > SPEC_TOKEN_EXPERTS)
		tree_die(config, "%d token experts; there may be 0..%d", m->count,
		    SPEC_TOKEN_EXPERTS);
	if (m->count && (m->top < 1 || m->top > m->count))
		tree_die(
		    config, "a token cannot have %d of %d experts", m->top, m->count);
	if (tree_get(config, "quantization_config"))
		tree_die(tree_get(config, "quantization_config"),
		    "quantised checkpoints are not read; use the float one");
}

enum nn_act
spec_activation(const struct tree *config, const char *key, const char *otherwise)
{
	static const struct {
		const char *name;
		enum nn_act act;
	} names[] = { { "gelu", NN_GELU }, { "gelu_new", NN_GELU_TANH },
		{ "gelu_pytorch_tanh", NN_GELU_TANH }, { "gelu_fast", NN_GELU_TANH },
		{ "gelu_python", NN_GELU }, { "silu", NN_SILU }, { "swish", NN_SILU },
		{ "relu", NN_RELU }, { "tanh", NN_TANH }, { "sigmoid", NN_SIGMOID } };
	const char *name = tree_string(config, key, otherwise);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i].name))
			return names[i].act;
	tree_die(config,
	    "'%s' is '%s'; known are gelu, gelu_new, silu, relu, tanh and sigmoid", key,
	    name);
}

void
spec_sizes(struct spec *spec, const struct tree *config)
{
	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = (int)tree_integer_in(config, "hidden_size", 1, 1 << 16);
	spec->layers = (int)tree_integer_in(config, "num_hidden_layers", 1, SPEC_LAYERS);
	spec->heads = (int)tree_integer_in(config, "num_attention_heads", 1, 1024);
	spec->kv_heads = spec->heads;
	spec->positions =
	    (int)tree_integer_in(config, "max_position_embeddings", 1, 1 << 24);
	spec->initializer_range = tree_real(config, "initializer_range", 0.02);
}

void
spec_positions_from(struct spec *spec, const struct tree *config, int first)
{
	if (first >= spec->positions)
		tree_die(tree_get(config, "max_position_embeddings"),
		    "'max_position_embeddings' is %d, and positions begin at %d",
		    spec->positions, first);
	spec->position_first = first;
	spec->positions -= first;
}

int
spec_number(const struct tree *config, const char *first, const char *second, int most)
{
	const struct tree *other = tree_get(config, second);
	const char *key = other && !tree_get(config, first) ? second : first;
	int number = (int)tree_integer_in(config, key, 1, most);

	if (other && tree_integer(config, second, 0) != number)
		tree_die(other, "'%s' is %lld, and '%s' is %d", second,
		    (long long)tree_integer(config, second, 0), first, number);
	return number;
}

void
spec_expect(const struct tree *config, const char *key, bool expected)
{
	if (tree_boolean(config, key, expected) != expected)
		tree_die(tree_get(config, key), "'%s' is %s; only %s is known", key,
		    expected ? "false" : "true", expected ? "true" : "false");
}

void
spec_divide_heads(struct spec *spec, const struct tree *config, const char *key)
{
	if (spec->width % spec->heads)
		tree_die(tree_get(config, key),
		    "'%s' is %d; it must divide the width of the model, %d", key,
		    spec->heads, spec->width);
	spec->head_size = spec->width / spec->heads;
}

/* Static NTK: the base grows by the factor, and all angles shrink so that the slowest of them
 * turns exactly factor times slower. */
static void
scale_ntk(struct spec_rotary *rotary, const struct tree *scaling, double factor, int D)
{
	if (tree_get(scaling, "mixed_b"))
		tree_die(tree_get(scaling, "mixed_b"),
		    "'mixed_b' of rope_scaling is not known; it must be null");
	rotary->base *= factor;
	rotary->divisor = pow(factor, 2.0 / D);
}

/* How much of a frequency stays, as x goes from `from` to `to`; the rest is divided by the factor. */
static double
stretched(double x, double from, double to, double factor)
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
		rotary->own[i] = stretched(
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
		rotary->own[i] = stretched(i, last, first, factor);
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
		    "the rope scaling '%s' is not known; known are default, linear, dynamic, ntk, llama3 and yarn",
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
spec_rotary_table(struct spec *spec, int which, const struct tree *config,
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
spec_rotary(struct spec *spec, const struct tree *config, double base)
{
	const struct tree *parameters = tree_get(config, "rope_scaling");

	if (!parameters || (parameters->kind == TREE_OBJECT && !parameters->count))
		parameters = tree_get(config, "rope_parameters");
	spec_rotary_table(
	    spec, 0, config, parameters, tree_real(config, "rope_theta", base));
	spec->rotaries = 1;
}

bool
spec_slides(const struct spec *spec, const struct tree *config, int layer, bool otherwise)
{
	const struct tree *types = tree_get(config, "layer_types");

	if (!types)
		return otherwise;
	if (types->kind != TREE_LIST || types->count != (size_t)spec->layers)
		tree_die(types, "'layer_types' must name the type of each of %d layers",
		    spec->layers);
	const struct tree *type = types->items[layer];
	bool sliding =
	    type->kind == TREE_STRING && !strcmp(type->string, "sliding_attention");
	if (!sliding &&
	    (type->kind != TREE_STRING || strcmp(type->string, "full_attention")))
		tree_die(type,
		    "'layer_types' may hold 'full_attention' and 'sliding_attention'");
	return sliding;
}

const struct tree *
spec_blocks(const struct spec *spec, const struct tree *own)
{
	const struct tree *layers = tree_need(own, "layers");

	if (layers->kind != TREE_LIST || layers->count < 1)
		tree_die(
		    layers, "'layers' of %s must list blocks, counted from 0", own->key);
	for (size_t i = 0; i < layers->count; i++) {
		const struct tree *layer = layers->items[i];
		if (layer->kind != TREE_INTEGER || layer->integer < 0 ||
		    layer->integer >= spec->layers)
			tree_die(layer, "'layers' of %s must be in 0..%d", own->key,
			    spec->layers - 1);
	}
	return layers;
}
