/* Inference through one block, and the pieces that training shares (block_train.c). */
#include <math.h>

#include "model/block_internal.h"
#include "model/layer_embedding.h"
#include "model/short_conv.h"

struct block_sizes
block_sizes(const struct spec *spec, int layer)
{
	size_t H = (size_t)spec->heads, K = (size_t)spec_kv_heads(spec, layer);
	size_t D = (size_t)spec_head_size(spec, layer), C = (size_t)spec->width;
	bool conv = spec->layer[layer].conv;

	return (struct block_sizes){ .C = C,
		.H = H,
		.K = K,
		.D = D,
		.Q = conv ? C : H * D,
		.KV = K * D,
		.G = conv ? 3 * C : (H + 2 * K) * D,
		.I = (size_t)spec->layer[layer].inner };
}

struct block_sizes
block_sizes_largest(const struct spec *spec)
{
	struct block_sizes n = block_sizes(spec, 0);

	for (int i = 1; i < spec->layers; i++) {
		struct block_sizes own = block_sizes(spec, i);
		n.I = own.I > n.I ? own.I : n.I;
		n.Q = own.Q > n.Q ? own.Q : n.Q;
		n.G = own.G > n.G ? own.G : n.G;
	}
	return n;
}

struct block
block_of(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_batch *batch)
{
	return (struct block){ spec, &spec->layer[layer], weights, batch,
		block_sizes(spec, layer) };
}

const float *
block_vector(const struct block *block, enum block_parameter which)
{
	return block->weights->at[which].at;
}

/* Layers. -------------------------------------------------------------------------- */

/* Whether the parameter after a matrix is its bias. */
static bool
has_bias(enum block_parameter which)
{
	return which != BLOCK_ROUTER && which != BLOCK_SHARED_GATE &&
	       !(which >= BLOCK_LAYER_IN && which <= BLOCK_LAYER_OUT);
}

struct linear
block_linear(const struct block *block, const struct block_gradients *gradients,
    enum block_parameter which, size_t C, size_t O)
{
	bool biased = has_bias(which);

	return (struct linear){ .w = block->weights->at[which],
		.bias = biased ? block_vector(block, which + 1) : NULL,
		.dw = gradients ? gradients->at[which] : NULL,
		.db = gradients && biased ? gradients->at[which + 1] : NULL,
		.pairs = block->weights->pairs[which],
		.C = C,
		.O = O };
}

int
block_projections(struct linear to[3], const struct block *block,
    const struct block_gradients *gradients)
{
	const struct block_sizes *n = &block->n;

	bool one = block->spec->fused || block->layer->conv;

	to[0] = block_linear(block, gradients, BLOCK_Q, n->C, one ? n->G : n->Q);
	if (one)
		return 1;
	to[1] = block_linear(block, gradients, BLOCK_K, n->C, n->KV);
	to[2] = block_linear(block, gradients, BLOCK_V, n->C, n->KV);
	return 3;
}

struct mlp
block_mlp(
    const struct block *block, const struct block_gradients *gradients, size_t first)
{
	return (struct mlp){ .at = block->weights->at + BLOCK_UP,
		.gradients = gradients ? gradients->at + BLOCK_UP : NULL,
		.pairs = block->weights->pairs + BLOCK_UP,
		.rows = { .batch = &block->batch->adapters, .first = first },
		.act = block->spec->act,
		.gated = block->spec->gated,
		.C = block->n.C,
		.I = block->n.I };
}

struct mixture_weights
block_mixture(const struct block *block, const struct block_gradients *gradients)
{
	return (struct mixture_weights){ .router = block_linear(block, gradients,
					     BLOCK_ROUTER, block->n.C,
					     (size_t)block->spec->mixture.count),
		.bias = block_vector(block, BLOCK_MIXTURE_BIAS),
		.experts = block->weights->mixture,
		.pairs = block->weights->mixture_pairs,
		.batch = &block->batch->adapters };
}

struct linear_rows
block_rows(const struct block *block)
{
	return (struct linear_rows){ .batch = &block->batch->adapters };
}

static int
block_index(const struct block *block)
{
	return (int)(block->layer - block->spec->layer);
}

void
block_drop(const struct block *block, enum spec_drop place, float *x, size_t first,
    size_t T, size_t C)
{
	dropout_rows(&block->batch->dropout, block->spec, place, block_index(block), x,
	    first, T, C);
}

/* Attention. ----------------------------------------------------------------------- */

static float
attention_scale(const struct spec *spec, int rotary)
{
	double own = spec->rotaries ? spec->rotary[rotary].attention : 0;

	if (own == 0)
		return spec->attention_scale;
	return (float)(own * (spec->attention_scale != 0 ? (double)spec->attention_scale
							 : 1 / sqrt(spec->head_size)));
}

struct nn_attention
block_attention(const struct block *block)
{
	const struct block_sizes *n = &block->n;
	const struct nn_matrix *q = &block->weights->at[BLOCK_Q];

	return (struct nn_attention){ .sequences = block->batch->sequences,
		.dropout = dropout_of_weights(
		    &block->batch->dropout, block->spec, block_index(block)),
		.H = n->H,
		.K = n->K,
		.D = n->D,
		.ldq = n->G,
		.ldkv = n->G,
		.causal = block->spec->causal,
		.window = (size_t)block->layer->window,
		.scale = attention_scale(block->spec, block->layer->rotary),
		.bias = block->batch->bias,
		.softcap = block->spec->softcap,
		/* as the products of the layers around it; in training on a device alone, whose backward does the same */
		.bf16 = (q->bf16 && nn_device()) || (q->packed && q->dtype == DTYPE_BF16),
		.i8 = q->packed && q->dtype == DTYPE_I8 };
}

void
block_rotate(const struct block *block, float *qkv, int direction)
{
	const struct block_batch *batch = block->batch;
	const struct block_sizes *n = &block->n;

	if (!block->spec->rotaries)
		return;
	const struct block_rotary *rotary = &batch->rotary[block->layer->rotary];
	nn_rotary(qkv, n->G, rotary->inverse, rotary->stride, &batch->sequences, n->H,
	    n->D, direction);
	nn_rotary(qkv + n->Q, n->G, rotary->inverse, rotary->stride, &batch->sequences,
	    n->K, n->D, direction);
}

struct norm_groups
block_norm_groups(const struct block *block, size_t heads)
{
	size_t D = block->n.D;

	return block->spec->qk_norm == SPEC_QK_ALL ? (struct norm_groups){ 1, heads * D }
						   : (struct norm_groups){ heads, D };
}

const float block_no_weight[NN_MAX_HEAD];

const float *
block_values(const struct block *block, const struct attention_buffers *b)
{
	return (block->spec->v_norm ? b->qkv : b->raw) + block->n.Q + block->n.KV;
}

static void
norm_heads(const struct block *block, const struct attention_buffers *b)
{
	struct norm_groups q = block_norm_groups(block, block->n.H);
	struct norm_groups k = block_norm_groups(block, block->n.K);
	size_t T = block->batch->sequences.T, G = block->n.G, Q = block->n.Q;
	size_t V = Q + block->n.KV;
	float eps = block->spec->norm_eps;

	if (block->spec->v_norm)
		nn_norm_heads(b->qkv + V, G, b->stats_v, b->raw + V, G, block_no_weight,
		    NULL, eps, NN_RMSNORM_PLUS, T, block->n.K, block->n.D);
	if (block->spec->qk_norm == SPEC_QK_PLAIN)
		return;
	nn_norm_heads(b->qkv, G, b->stats_q, b->raw, G, block_vector(block, BLOCK_Q_NORM),
	    block_vector(block, BLOCK_Q_NORM_BIAS), eps, block->spec->norm, T, q.count,
	    q.columns);
	nn_norm_heads(b->qkv + Q, G, b->stats_k, b->raw + Q, G,
	    block_vector(block, BLOCK_K_NORM), block_vector(block, BLOCK_K_NORM_BIAS),
	    eps, block->spec->norm, T, k.count, k.columns);
}

/* The block's q' and k'; q NULL: it has none. */
static struct nn_relative
relative_of(const struct block *block)
{
	const struct block_batch *batch = block->batch;
	size_t table = (size_t)block->spec->relative.rows * block->n.C;
	const float *q = batch->relative;

	if (!q)
		return (struct nn_relative){ 0 };
	q += (size_t)block_index(block) * 2 * table;
	return (struct nn_relative){ q, q + table, batch->relative_rows };
}

/* The published encoders that see both ways do not hide the tokens of a query's expansion from the convolution. */
static void
convolve(const struct block *block, const struct attention_buffers *b)
{
	const struct spec *spec = block->spec;
	const struct nn_sequences *sequences = &block->batch->sequences;

	if (!spec->conv_centred)
		short_conv_hide(
		    b->raw, block_vector(block, BLOCK_Q_BIAS), sequences, block->n.C);
	short_conv(b->attended, b->raw, block_vector(block, BLOCK_CONV),
	    block_vector(block, BLOCK_CONV_BIAS), sequences, block->n.C,
	    (size_t)spec->conv_taps, spec->conv_centred);
}

void
block_attend(const struct block *block, const struct attention_buffers *b,
    const float *in, const int32_t *queries)
{
	const struct block_sizes *n = &block->n;
	struct nn_attention a = block_attention(block);
	struct linear to[3];
	struct linear_rows rows = block_rows(block);
	size_t T = block->batch->sequences.T;
	float *raw = b->raw;

	for (int i = 0, count = block_projections(to, block, NULL); i < count;
	     raw += to[i++].O)
		linear_forward(&to[i], &rows, raw, n->G, in, n->C, T);
	if (block->layer->conv) {
		convolve(block, b);
		return;
	}
	norm_heads(block, b);
	block_rotate(block, b->qkv, 1);
	a.queries = queries;
	struct nn_relative relative = relative_of(block);
	if (relative.q)
		a.relative = &relative;
	nn_attention(
	    b->attended, b->lse, b->qkv, b->qkv + n->Q, block_values(block, b), &a);
}

void
block_attention_out(
    const struct block *block, const struct attention_buffers *b, float *out)
{
	const struct block_sizes *n = &block->n;
	struct linear layer = block_linear(block, NULL, BLOCK_OUT, n->Q, n->C);
	struct linear_rows rows = block_rows(block);
	size_t T = block->batch->sequences.T;

	linear_forward(&layer, &rows, out, n->C, b->attended, n->Q, T);
	block_drop(block, SPEC_DROP_ATTENTION, out, 0, T, n->C);
}

/* MLP and norms. ------------------------------------------------------------------- */

void
block_feed(const struct block *block, const struct mlp_buffers *b,
    const struct mixture_state *mixture, float *out, const float *in, size_t first,
    size_t T)
{
	struct mlp mlp = block_mlp(block, NULL, first);
	struct linear gate = block_linear(block, NULL, BLOCK_SHARED_GATE, mlp.C, 1);

	mlp_inner(&mlp, b->inner, b->up, b->gate, in, T);
	block_drop(block, SPEC_DROP_INNER, b->inner, first, T, mlp.I);
	if (gate.w.at)
		mixture_share(&gate, &mlp.rows, b->inner, in, mixture, T, mlp.I);
	mlp_out(&mlp, out, b->inner, T);
}

void
block_norm(const struct block *block, enum block_parameter which, float *y, float *s,
    float *stats, const float *x, const float *r, size_t T)
{
	nn_norm(y, s, stats, x, r, block_vector(block, which),
	    block_vector(block, which + 1), block->spec->norm_eps, block->spec->norm, T,
	    block->n.C);
}

void
block_norm_attention(const struct block *block, float *to, float *stats, float *out,
    const float *x, size_t T)
{
	if (block->spec->residual_twice)
		block_norm(
		    block, BLOCK_OUT_NORM, to, to == out ? NULL : out, stats, x, out, T);
	else
		block_norm_branch(block, BLOCK_OUT_NORM, to, stats, out, T);
}

float *
block_norm_branch(const struct block *block, enum block_parameter which, float *to,
    float *stats, float *out, size_t T)
{
	if (!block->spec->branch_norms)
		return out;
	nn_norm(to, NULL, stats, out, NULL, block_vector(block, which), NULL,
	    block->spec->norm_eps, block->spec->norm, T, block->n.C);
	return to;
}

/* Inference. ----------------------------------------------------------------------- */

void
block_buffers_layout(struct block_buffers *buffers, struct workspace *workspace,
    const struct spec *spec, size_t T, float *x, size_t step)
{
	struct block_sizes n = block_sizes_largest(spec);
	struct attention_buffers *attention = &buffers->attention;
	struct mlp_buffers *mlp = &buffers->mlp;

	*buffers = (struct block_buffers){ .x = x, .step = T < step ? T : step };
	attention->raw = attention->qkv = workspace_floats(workspace, T, n.G);
	attention->attended = workspace_floats(workspace, T, n.Q);
	buffers->branch = workspace_floats(workspace, T, n.C);
	mlp->inner = mlp->up = workspace_floats(workspace, buffers->step, n.I);
	if (spec->gated)
		mlp->gate = workspace_floats(workspace, buffers->step, n.I);
	buffers->mlp_out = workspace_floats(workspace, buffers->step, n.C);
	if (spec->layer_embedding) {
		size_t P = (size_t)spec->layer_embedding;
		buffers->embedded = workspace_floats(workspace, T, n.C);
		float *in = workspace_floats(workspace, buffers->step, P);
		buffers->layer = (struct layer_embedding_buffers){ .in = in,
			.u = in,
			.gate = workspace_floats(workspace, buffers->step, P),
			.inner = in,
			.out = buffers->mlp_out };
	}
	if (spec->mixture.count) {
		mixture_layout(&buffers->mixture, workspace, spec, T, false);
		buffers->mixed = workspace_floats(workspace, T, n.C);
	}
}

/* The MLP of T rows from `first` on, and the sum with it; in[.,C]: its input, all rows. */
static void
infer_mlp(const struct block *block, const struct block_buffers *b, const float *in,
    size_t first, size_t T)
{
	size_t at = first * block->n.C, n = T * block->n.C;
	float *out = block->n.I ? b->mlp_out : b->mixed + at;

	if (block->n.I)
		block_feed(block, &b->mlp, &b->mixture, out, in + at, first, T);
	if (b->energy) {
		size_t E = (size_t)block->spec->neuron_experts;
		nn_dot_rows(b->energy + first * E, b->mlp.inner, b->mlp.inner, T * E,
		    block->n.I / E);
	}
	if (block->n.I && block->layer->mixture)
		nn_add(out, b->mixed + at, n);
	block_drop(block, SPEC_DROP_MLP, out, first, T, block->n.C);
	block_norm_branch(block, BLOCK_DOWN_NORM, out, NULL, out, T);
	if (block->spec->prenorm)
		nn_add(b->x + at, out, n);
	else
		block_norm(block, BLOCK_NORM2, b->x + at, NULL, NULL, in + at, out, T);
	if (!block->spec->layer_embedding)
		return;
	struct layer_embedding_buffers layer = b->layer;
	layer.embedded = b->embedded + at;
	layer_embedding_forward(block, &layer, b->x + at, b->x + at, first, T);
}

/* From the heads of attention, and x, to the block's output in x. */
static void
infer_attended(const struct block *block, const struct block_buffers *b)
{
	const struct spec *spec = block->spec;
	size_t T = block->batch->sequences.T;
	float *x = b->x, *branch = b->branch;
	const float *in = x;

	block_attention_out(block, &b->attention, branch);
	block_norm_attention(block, branch, NULL, branch, x, T);
	if (spec->prenorm) {
		block_norm(block, BLOCK_NORM2, branch, x, NULL, x, branch, T);
		in = branch;
	} else {
		block_norm(block, BLOCK_NORM1, x, NULL, NULL, x, branch, T);
	}
	if (block->layer->mixture) {
		struct mixture_weights experts = block_mixture(block, NULL);
		mixture_forward(spec, &experts, b->mixed, b->router, in, &b->mixture, T);
	}
	for (size_t first = 0; first < T; first += b->step)
		infer_mlp(block, b, in, first, T - first < b->step ? T - first : b->step);
}

void
block_infer(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_batch *batch, const struct block_buffers *b,
    const struct block_pooled *pooled)
{
	struct block block = block_of(spec, layer, weights, batch);
	const float *in = b->x;

	if (spec->prenorm && block.layer->norm1) {
		block_norm(&block, BLOCK_NORM1, b->branch, NULL, NULL, b->x, NULL,
		    batch->sequences.T);
		in = b->branch;
	}
	block_attend(&block, &b->attention, in, pooled ? pooled->tokens : NULL);
	if (!pooled) {
		infer_attended(&block, b);
		return;
	}
	struct block_buffers few = *b;
	few.x = pooled->x;
	few.attention.attended = pooled->attended;
	block.batch = &pooled->batch;
	size_t N = pooled->batch.sequences.N;
	nn_gather(pooled->x, b->x, pooled->rows, N, block.n.C);
	nn_gather(pooled->attended, b->attention.attended, pooled->rows, N, block.n.Q);
	infer_attended(&block, &few);
}
