#include "model/spec.h"

#include <math.h>
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
spec_refuse_shared(const struct spec *spec, const char *dir)
{
	if (spec->layers && spec->layer[spec->layers - 1].stored < spec->layers - 1)
		die("%s: its blocks share their weights; they cannot be changed one by one",
		    dir);
}

int
spec_kv_heads(const struct spec *spec, int layer)
{
	int own = spec->layer[layer].kv_heads;

	return own ? own : spec->kv_heads;
}

int
spec_head_size(const struct spec *spec, int layer)
{
	int own = spec->layer[layer].head_size;

	return own ? own : spec->head_size;
}

int
spec_rotary_size(const struct spec *spec, int which)
{
	int own = spec->rotary[which].size;

	return own ? own : spec->head_size;
}

int
spec_embedding_width(const struct spec *spec)
{
	return spec->embedding_width ? spec->embedding_width : spec->width;
}

/* The shape of a parameter of per-layer embeddings. */
static bool
layer_shape(
    const struct spec *spec, enum block_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, P = spec->layer_embedding;

	switch (which) {
	case BLOCK_LAYER_IN:
	case BLOCK_LAYER_GATE: return shape(P, rows, P, columns, C);
	case BLOCK_LAYER_IN_NORM: return shape(P, rows, P, columns, 0);
	case BLOCK_LAYER_OUT: return shape(P, rows, C, columns, P);
	case BLOCK_LAYER_NORM: return shape(P, rows, C, columns, 0);
	default: return shape(P, rows, 1, columns, 0);
	}
}

/* The shape of a parameter of a short convolution. */
static bool
conv_shape(
    const struct spec *spec, enum block_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width;

	switch (which) {
	case BLOCK_Q: return shape(true, rows, 3 * C, columns, C);
	case BLOCK_Q_BIAS: return shape(spec->conv_bias, rows, 3 * C, columns, 0);
	case BLOCK_CONV: return shape(true, rows, C, columns, spec->conv_taps);
	case BLOCK_CONV_BIAS:
	case BLOCK_OUT_BIAS: return shape(spec->conv_bias, rows, C, columns, 0);
	case BLOCK_OUT: return shape(true, rows, C, columns, C);
	default: return false;
	}
}

/* The shape of a parameter of attention or router. */
static bool
attention_shape(const struct spec *spec, int index, enum block_parameter which,
    int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, D = spec_head_size(spec, index);
	int64_t q = spec->heads * D, kv = spec_kv_heads(spec, index) * D;
	bool all = spec->qk_norm == SPEC_QK_ALL, normed = spec->qk_norm != SPEC_QK_PLAIN;
	bool biased = spec->norm_bias;

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
	case BLOCK_Q_NORM_BIAS:
		return shape(normed && biased, rows, all ? q : D, columns, 0);
	case BLOCK_K_NORM: return shape(normed, rows, all ? kv : D, columns, 0);
	case BLOCK_K_NORM_BIAS:
		return shape(normed && biased, rows, all ? kv : D, columns, 0);
	case BLOCK_OUT_NORM:
		return shape(
		    spec->branch_norms || spec->residual_twice, rows, C, columns, 0);
	case BLOCK_OUT_NORM_BIAS:
		return shape(spec->residual_twice && biased, rows, C, columns, 0);
	case BLOCK_OUT: return shape(true, rows, C, columns, q);
	case BLOCK_OUT_BIAS: return shape(spec->out_bias, rows, C, columns, 0);
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

	if (which >= BLOCK_LAYER_IN && which <= BLOCK_FACTOR)
		return layer_shape(spec, which, rows, columns);
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
	case BLOCK_ROUTER:
		return shape(layer->mixture, rows, spec->mixture.count, columns, C);
	case BLOCK_SHARED_GATE:
		return shape(layer->mixture && layer->inner && spec->mixture.shared_gate,
		    rows, 1, columns, C);
	case BLOCK_MIXTURE_BIAS:
		return shape(layer->mixture && spec->mixture.bias, rows, C, columns, 0);
	default:
		return layer->conv ? conv_shape(spec, which, rows, columns)
				   : attention_shape(spec, index, which, rows, columns);
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

static bool
latents_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, L = spec->latents.count;
	int64_t D = spec->latents.heads * (int64_t)spec->latents.head_size;

	switch (which) {
	case STEM_LATENTS: return shape(L, rows, L, columns, C);
	case STEM_LATENTS_Q: return shape(L, rows, D, columns, C);
	case STEM_LATENTS_KV: return shape(L, rows, 2 * D, columns, C);
	case STEM_LATENTS_OUT: return shape(L, rows, C, columns, D);
	case STEM_LATENTS_UP: return shape(L, rows, 8 * C, columns, C);
	case STEM_LATENTS_UP_BIAS: return shape(L, rows, 8 * C, columns, 0);
	case STEM_LATENTS_DOWN: return shape(L, rows, C, columns, 4 * C);
	default: return shape(L, rows, C, columns, 0);
	}
}

bool
spec_stem_shape(
    const struct spec *spec, enum stem_parameter which, int64_t *rows, int64_t *columns)
{
	int64_t C = spec->width, E = spec_embedding_width(spec);
	bool biased = spec->norm_bias, embedded = spec->embedding_norm;
	bool shared = spec->distance.buckets && !spec->distance.each;
	bool projected = spec->embedding_width;

	if (which >= STEM_LATENTS && which <= STEM_LATENTS_DOWN_BIAS)
		return latents_shape(spec, which, rows, columns);
	switch (which) {
	case STEM_TOKENS:
		return shape(
		    true, rows, spec->vocabulary, columns, spec->token_weights ? 0 : E);
	case STEM_POSITIONS:
		return shape(spec->position_table, rows,
		    spec->position_first + spec->positions, columns, E);
	case STEM_TYPES: return shape(spec->types > 0, rows, spec->types, columns, E);
	case STEM_TASKS:
		return shape(
		    spec->tasks_of_text > 0, rows, spec->tasks_of_text, columns, E);
	case STEM_DISTANCE:
		return shape(shared, rows, spec->distance.buckets, columns, spec->heads);
	case STEM_RELATIVE:
		return shape(spec->relative.rows, rows, spec->relative.rows, columns, C);
	case STEM_RELATIVE_NORM:
	case STEM_RELATIVE_NORM_BIAS:
		return shape(spec->relative.norm, rows, C, columns, 0);
	case STEM_NORM: return shape(embedded, rows, E, columns, 0);
	case STEM_NORM_BIAS: return shape(embedded && biased, rows, E, columns, 0);
	case STEM_PROJECT: return shape(projected, rows, C, columns, E);
	case STEM_PROJECT_BIAS: return shape(projected, rows, C, columns, 0);
	case STEM_LAYERS:
		return shape(spec->layer_embedding, rows,
		    (int64_t)spec->layers * spec->layer_embedding, columns, C);
	case STEM_LAYERS_NORM:
		return shape(
		    spec->layer_embedding, rows, spec->layer_embedding, columns, 0);
	case STEM_FINAL_NORM: return shape(spec->prenorm, rows, C, columns, 0);
	case STEM_FINAL_NORM_BIAS:
		return shape(spec->prenorm && biased, rows, C, columns, 0);
	case STEM_PROJECTION:
		return shape(spec->projection, rows, spec->projection, columns, C);
	case STEM_MLM_DENSE: return shape(true, rows, E, columns, C);
	case STEM_MLM_DENSE_BIAS: return shape(spec->mlm_bias, rows, E, columns, 0);
	case STEM_MLM_NORM: return shape(true, rows, E, columns, 0);
	case STEM_MLM_NORM_BIAS: return shape(biased, rows, E, columns, 0);
	case STEM_OUTPUT: return shape(spec->untied, rows, spec->vocabulary, columns, E);
	case STEM_OUTPUT_BIAS:
		return shape(spec->output_bias, rows, spec->vocabulary, columns, 0);
	default: return false;
	}
}

static void
check_heads(const struct spec *spec, int layer, const struct tree *config)
{
	int size = spec_head_size(spec, layer), shared = spec_kv_heads(spec, layer);
	int most = nn_device() ? NN_MAX_DEVICE_HEAD : NN_MAX_HEAD;

	if (spec->heads % shared)
		tree_die(config, "%d attention heads cannot share %d key/value heads",
		    spec->heads, shared);
	if (size < 1 || size > most)
		tree_die(config,
		    "the size of an attention head is %d; it must be in 1..%d", size,
		    most);
	if (spec->rotaries && size % 2)
		tree_die(config, "rotary positions need an even head size, not %d", size);
}

void
spec_check(const struct spec *spec, const struct tree *config)
{
	if (!spec->layers)
		return;
	for (int i = 0; i < spec->layers; i++)
		check_heads(spec, i, config);
	if (!(spec->norm_eps > 0 && spec->norm_eps < 1))
		tree_die(config, "the epsilon of the norms is %g; it must be in 0..1",
		    (double)spec->norm_eps);
	for (int i = 0; i < spec->rotaries; i++) {
		if (!(spec->rotary[i].base > 1 && isfinite(spec->rotary[i].base)))
			tree_die(config, "the rotary base is %g; it must be above 1",
			    spec->rotary[i].base);
		if (spec->rotary[i].factor != 0 && spec_rotary_size(spec, i) < 4)
			tree_die(config,
			    "dynamic rope scaling needs heads of size 4 or more, not %d",
			    spec_rotary_size(spec, i));
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

const struct tree *
spec_blocks(const struct spec *spec, const struct tree *own)
{
	const struct tree *layers = tree_need(own, "layers");

	if (layers->kind != TREE_LIST || layers->count < 1)
		tree_die(
		    layers, "'layers' of %s must list blocks, counted from 0", own->key);
	for (size_t i = 0; i < layers->count; i++) {
		const struct tree *layer = layers->items[i];
		if (!tree_is_whole(layer) || layer->integer < 0 ||
		    layer->integer >= spec->layers)
			tree_die(layer, "'layers' of %s must be in 0..%d", own->key,
			    spec->layers - 1);
	}
	return layers;
}

/* Comparison. ---------------------------------------------------------------------- */

#define SAME(field) (a->field == b->field)

static bool
same_rotary(const struct spec_rotary *a, const struct spec_rotary *b)
{
	return SAME(size) && SAME(base) && SAME(divisor) && SAME(factor) &&
	       SAME(trained) && SAME(attention) && !memcmp(a->own, b->own, sizeof a->own);
}

bool
spec_same_layer(const struct spec_layer *a, const struct spec_layer *b)
{
	return SAME(norm1) && SAME(window) && SAME(rotary) && SAME(kv_heads) &&
	       SAME(head_size) && SAME(conv) && SAME(inner) && SAME(mixture) &&
	       SAME(experts);
}

static bool
same_mixture(const struct spec_mixture *a, const struct spec_mixture *b)
{
	return SAME(count) && SAME(top) && SAME(inner) && SAME(renormalize) &&
	       SAME(shared_gate) && SAME(up_bias) && SAME(down_bias) && SAME(bias) &&
	       SAME(turned) && SAME(upcycled);
}

static bool
same_sizes(const struct spec *a, const struct spec *b)
{
	return SAME(layers) && SAME(token_weights) && SAME(width) && SAME(heads) &&
	       SAME(kv_heads) && SAME(head_size) && SAME(vocabulary) && SAME(types) &&
	       SAME(position_table) && SAME(positions) && SAME(position_first) &&
	       SAME(rotaries) && SAME(distance.buckets) && SAME(distance.farthest) &&
	       SAME(distance.slopes) && SAME(distance.each) && SAME(embedding_width) &&
	       SAME(relative.rows) && SAME(relative.farthest) && SAME(relative.buckets) &&
	       SAME(relative.norm) && SAME(latents.count) && SAME(latents.heads) &&
	       SAME(latents.head_size) && SAME(tasks_of_text) && SAME(attention_scale) &&
	       SAME(softcap) && SAME(output_capped);
}

static bool
same_blocks(const struct spec *a, const struct spec *b)
{
	return SAME(causal) && SAME(prenorm) && SAME(branch_norms) &&
	       SAME(residual_twice) && SAME(embedding_norm) && SAME(embedding_scale) &&
	       SAME(norm) && SAME(norm_bias) && SAME(norm_eps) && SAME(qk_norm) &&
	       SAME(conv_taps) && SAME(conv_bias) && SAME(conv_centred) && SAME(v_norm) &&
	       SAME(layer_embedding) && SAME(projection) && SAME(act) && SAME(head_act) &&
	       SAME(gated) && SAME(qkv_bias) && SAME(out_bias) && SAME(up_bias) &&
	       SAME(down_bias) && SAME(mlm_bias) && SAME(output_bias) && SAME(experts) &&
	       SAME(expert_norms) && SAME(loras) && SAME(lora_rank) && SAME(lora_scale);
}

bool
spec_same(const struct spec *a, const struct spec *b)
{
	bool same = same_sizes(a, b) && same_blocks(a, b) &&
		    same_mixture(&a->mixture, &b->mixture);

	for (int i = 0; same && i < a->rotaries; i++)
		same = same_rotary(&a->rotary[i], &b->rotary[i]);
	for (int i = 0; same && i < a->layers; i++)
		same =
		    SAME(layer[i].stored) && spec_same_layer(&a->layer[i], &b->layer[i]);
	for (int i = 0; same && i < a->experts; i++)
		same = !strcmp(a->expert_names[i], b->expert_names[i]);
	return same && !a->tasks == !b->tasks &&
	       (!a->tasks || tree_equal(a->tasks, b->tasks));
}
