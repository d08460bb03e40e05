#include "model/block_bf16.h"

#include "model/block_internal.h"
#include "model/mixture_bf16.h"

static bool
is_bf16(const struct block_weights *weights, enum block_parameter which)
{
	const struct nn_matrix *w = &weights->at[which];

	return w->at && w->packed && w->dtype == DTYPE_BF16;
}

static bool
mlp_is_bf16(const struct spec *spec, const struct block_weights *weights)
{
	return is_bf16(weights, BLOCK_UP) && is_bf16(weights, BLOCK_DOWN) &&
	       (!spec->gated || is_bf16(weights, BLOCK_GATE));
}

bool
block_bf16_fits(const struct nn_bf16 *kernels, const struct spec *spec, int layer,
    const struct block_weights *weights)
{
	struct block_sizes n = block_sizes(spec, layer);
	bool mixture = spec->layer[layer].mixture;

	/* G is a sum of multiples of D */
	if ((n.C | n.D | n.I) % 8 || (n.I && mixture) ||
	    (spec->qk_norm != SPEC_QK_PLAIN && spec->norm == NN_LAYERNORM) ||
	    spec->residual_twice || spec->v_norm || spec->layer_embedding ||
	    spec->layer[layer].conv)
		return false;
	return is_bf16(weights, BLOCK_Q) && is_bf16(weights, BLOCK_OUT) &&
	       (spec->fused ||
		   (is_bf16(weights, BLOCK_K) && is_bf16(weights, BLOCK_V))) &&
	       (mixture ? mixture_bf16_fits(kernels, spec, weights->mixture)
			: mlp_is_bf16(spec, weights));
}

/* The arrays, in the memory of the f32 ones. */
struct bf16_arrays {
	uint16_t *qkv, *attended; /* [T,G], [T,Q] */
	uint16_t *in;	 /* [T,C], of a branch; with norms after the hidden states */
	uint16_t *out;	 /* [T,C], of a branch */
	uint16_t *inner; /* [2 step,I] */
};

static struct bf16_arrays
arrays_of(const struct block_buffers *b, size_t T, size_t C)
{
	uint16_t *branch = (uint16_t *)b->branch;

	return (struct bf16_arrays){ .qkv = (uint16_t *)b->attention.raw,
		.attended = (uint16_t *)b->attention.attended,
		.in = branch + T * C,
		.out = branch,
		.inner = (uint16_t *)b->mlp.inner };
}

/* Norms of q and k, and their rotation. */
static void
turn(const struct nn_bf16 *k, const struct block *block, const struct bf16_arrays *at)
{
	const struct spec *spec = block->spec;
	const struct block_sizes *n = &block->n;
	const struct block_batch *batch = block->batch;
	const struct block_rotary *rotary =
	    spec->rotaries ? &batch->rotary[block->layer->rotary] : NULL;
	const float *w[2] = { NULL, NULL };

	if (spec->qk_norm != SPEC_QK_PLAIN) {
		w[0] = block_vector(block, BLOCK_Q_NORM);
		w[1] = block_vector(block, BLOCK_K_NORM);
	}
	if (spec->qk_norm == SPEC_QK_ALL) {
		size_t T = batch->sequences.T;
		k->norm(at->qkv, at->qkv, NULL, n->G, w[0], NULL, spec->norm_eps,
		    spec->norm, T, n->Q);
		k->norm(at->qkv + n->Q, at->qkv + n->Q, NULL, n->G, w[1], NULL,
		    spec->norm_eps, spec->norm, T, n->KV);
		w[0] = w[1] = NULL;
	}
	k->heads(at->qkv, n->G, w, spec->norm_eps, spec->norm,
	    rotary ? rotary->inverse : NULL, rotary ? rotary->stride : 0,
	    &batch->sequences, n->H, n->K, n->D);
}

/* A layer whose bias is the parameter after it. */
static struct nn_bf16_layer
layer_of(const struct block *block, enum block_parameter which, size_t O)
{
	return (struct nn_bf16_layer){ .w = block->weights->at[which],
		.b = block_vector(block, which + 1),
		.O = O };
}

/* out = attention(in) */
static void
attend(const struct nn_bf16 *k, const struct block *block, const struct bf16_arrays *at)
{
	const struct block_sizes *n = &block->n;
	struct nn_attention a = block_attention(block);
	struct linear to[3];
	struct nn_bf16_layer layers[3], last = layer_of(block, BLOCK_OUT, n->C);
	size_t T = block->batch->sequences.T;
	int count = block_projections(to, block, NULL);

	for (int i = 0; i < count; i++)
		layers[i] =
		    (struct nn_bf16_layer){ .w = to[i].w, .b = to[i].bias, .O = to[i].O };
	k->linear(at->qkv, n->G, at->in, layers, (size_t)count, NULL, T, n->C);
	turn(k, block, at);
	k->attention(at->attended, at->qkv, at->qkv + n->Q, at->qkv + n->Q + n->KV, &a);
	k->linear(at->out, n->C, at->attended, &last, 1, NULL, T, n->Q);
}

/* out = mlp(in), in even shares.  step: f32 rows that `inner` has room for. */
static void
feed(const struct nn_bf16 *k, const struct block *block, const struct bf16_arrays *at,
    size_t step)
{
	size_t T = block->batch->sequences.T, C = block->n.C, I = block->n.I;
	size_t parts = (T + 2 * step - 1) / (2 * step);
	size_t share = parts ? (T + parts - 1) / parts : 0;
	struct nn_bf16_layer up = layer_of(block, BLOCK_UP, I);
	struct nn_bf16_layer down = layer_of(block, BLOCK_DOWN, C);
	enum nn_act act = block->spec->act;

	up.gate = block->weights->at[BLOCK_GATE];
	up.gate_b = block_vector(block, BLOCK_GATE_BIAS);
	for (size_t t = 0; t < T; t += share) {
		size_t rows = T - t < share ? T - t : share;
		const uint16_t *in = at->in + t * C;
		if (block->spec->gated)
			k->linear_gated(at->inner, in, &up, act, rows, C);
		else
			k->linear(at->inner, I, in, &up, 1, &act, rows, C);
		k->linear(at->out + t * C, C, at->inner, &down, 1, NULL, rows, I);
	}
}

static void
norm_branch(const struct nn_bf16 *k, const struct block *block,
    enum block_parameter which, uint16_t *out)
{
	if (block->spec->branch_norms)
		k->norm(out, out, NULL, block->n.C, block_vector(block, which), NULL,
		    block->spec->norm_eps, block->spec->norm, block->batch->sequences.T,
		    block->n.C);
}

/* With norms after: in = norm(in + out).  With norms before: x += out (out NULL: x stays), in = norm(x). */
static void
norm(const struct nn_bf16 *k, const struct block *block, enum block_parameter which,
    float *x, uint16_t *in, const uint16_t *out)
{
	const struct spec *spec = block->spec;
	const float *w = block_vector(block, which), *b = block_vector(block, which + 1);
	size_t T = block->batch->sequences.T, C = block->n.C;

	if (spec->prenorm)
		k->norm_sum(in, x, out, w, b, spec->norm_eps, spec->norm, T, C);
	else
		k->norm(in, in, out, C, w, b, spec->norm_eps, spec->norm, T, C);
}

/* The input of the block; `before`: the output of the block before, which the hidden states lack, or NULL. */
static void
enter(const struct nn_bf16 *k, const struct block *block, float *x,
    const struct bf16_arrays *at, const uint16_t *before)
{
	size_t n = block->batch->sequences.T * block->n.C;

	if (block->spec->prenorm && block->layer->norm1) {
		norm(k, block, BLOCK_NORM1, x, at->in, before);
		return;
	}
	if (block->spec->prenorm && before)
		k->add_to_f32(x, before, n);
	if (block->spec->prenorm || !before)
		k->from_f32(at->in, x, n);
}

void
block_bf16_infer(const struct nn_bf16 *k, const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_batch *batch,
    const struct block_buffers *b)
{
	struct block block = block_of(spec, layer, weights, batch);
	size_t T = batch->sequences.T, n = T * block.n.C;
	struct bf16_arrays at = arrays_of(b, T, block.n.C);

	enter(k, &block, b->x, &at, layer ? at.out : NULL);
	attend(k, &block, &at);
	norm_branch(k, &block, BLOCK_OUT_NORM, at.out);
	norm(k, &block, spec->prenorm ? BLOCK_NORM2 : BLOCK_NORM1, b->x, at.in, at.out);
	if (block.layer->mixture) {
		struct mixture_weights experts = block_mixture(&block, NULL);
		mixture_bf16_forward(k, spec, &experts, at.out, at.in, &b->mixture, T);
	} else
		feed(k, &block, &at, b->step);
	norm_branch(k, &block, BLOCK_DOWN_NORM, at.out);
	if (!spec->prenorm)
		norm(k, &block, BLOCK_NORM2, b->x, at.in, at.out);
	if (layer + 1 < spec->layers)
		return;
	if (spec->prenorm)
		k->add_to_f32(b->x, at.out, n);
	else
		k->to_f32(b->x, at.in, n);
}
