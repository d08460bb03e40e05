/* Training through one block: the forward pass that keeps its activations, and the backward pass. */
#include "model/layer_embedding.h"
#include "model/short_conv.h"

void
block_activations_layout(struct block_activations *s, struct workspace *w,
    const struct spec *spec, int layer, size_t T, float *x)
{
	struct block_sizes n = block_sizes(spec, layer);
	struct attention_buffers *attention = &s->attention;

	*s = (struct block_activations){ .x = x, .attention_in = x };
	if (spec->prenorm && spec->layer[layer].norm1)
		s->attention_in = workspace_floats(w, T, n.C);
	s->stats1 = workspace_floats(w, T, 2);
	attention->raw = attention->qkv = workspace_floats(w, T, n.G);
	if (spec->qk_norm != SPEC_QK_PLAIN) {
		attention->raw = workspace_floats(w, T, n.G);
		attention->stats_q = workspace_floats(w, T, 2 * n.H);
		attention->stats_k = workspace_floats(w, T, 2 * n.K);
	}
	if (spec->v_norm)
		attention->stats_v = workspace_floats(w, T, 2 * n.K);
	attention->attended = workspace_floats(w, T, n.Q);
	attention->lse = workspace_floats(w, T, n.H);
	s->attention_out = s->sum1 = workspace_floats(w, T, n.C);
	s->mlp_in = workspace_floats(w, T, n.C);
	s->stats2 = workspace_floats(w, T, 2);
	s->mlp.up = workspace_floats(w, T, n.I);
	if (spec->gated)
		s->mlp.gate = workspace_floats(w, T, n.I);
	s->mlp.inner = workspace_floats(w, T, n.I);
	s->out = workspace_floats(w, T, n.C);
	s->sum2 = spec->prenorm && !spec->layer_embedding ? s->out
							  : workspace_floats(w, T, n.C);
	s->mlp_out = s->sum2;
	if (spec->branch_norms || spec->residual_twice) {
		s->attention_out = workspace_floats(w, T, n.C);
		s->stats_attention_out = workspace_floats(w, T, 2);
	}
	if (spec->branch_norms) {
		s->mlp_out = workspace_floats(w, T, n.C);
		s->stats_mlp_out = workspace_floats(w, T, 2);
	}
	if (spec->layer[layer].mixture) {
		mixture_layout(&s->mixture, w, spec, T, true);
		s->mixed = n.I ? workspace_floats(w, T, n.C) : s->mlp_out;
	}
	if (spec->layer_embedding) {
		size_t P = (size_t)spec->layer_embedding;
		s->layer =
		    (struct layer_embedding_buffers){ .in = workspace_floats(w, T, P),
			    .stats_in = workspace_floats(w, T, 2),
			    .u = workspace_floats(w, T, P),
			    .gate = workspace_floats(w, T, P),
			    .inner = workspace_floats(w, T, P),
			    .out = workspace_floats(w, T, n.C),
			    .stats_out = workspace_floats(w, T, 2) };
	}
}

void
block_scratch_layout(struct block_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T)
{
	struct block_sizes n = block_sizes_largest(spec);

	*scratch = (struct block_scratch){ 0 };
	scratch->dqkv = workspace_floats(workspace, T, n.G);
	scratch->dattended = workspace_floats(workspace, T, n.Q);
	scratch->dinner = workspace_floats(workspace, T, n.I);
	if (spec->prenorm || spec->mixture.count)
		scratch->dbranch = workspace_floats(workspace, T, n.C);
	if (spec->branch_norms || spec->residual_twice || dropout_is(spec))
		scratch->dgiven = workspace_floats(workspace, T, n.C);
	if (spec->mixture.count)
		mixture_scratch_layout(&scratch->mixture, workspace, spec, T);
	if (spec->layer_embedding) {
		size_t P = (size_t)spec->layer_embedding;
		scratch->dlayer_inner = workspace_floats(workspace, T, P);
		scratch->dlayer_u = workspace_floats(workspace, T, P);
		scratch->dlayer_gate = workspace_floats(workspace, T, P);
		scratch->dembedded = workspace_floats(workspace, T, n.C);
	}
}

/* Measured on 16 tokens, whose arrays are whole cache lines. */
size_t
block_floats(const struct spec *spec)
{
	struct workspace workspace = { 0 };
	struct block_activations activations;
	struct block_scratch scratch;

	workspace_measure(&workspace);
	for (int layer = 0; layer < spec->layers; layer++)
		block_activations_layout(&activations, &workspace, spec, layer, 16, NULL);
	block_scratch_layout(&scratch, &workspace, spec, 16);
	return workspace.used / 16 / sizeof(float);
}

/* Forward. ------------------------------------------------------------------------- */

void
block_forward(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_batch *batch, const struct block_activations *s)
{
	struct block block = block_of(spec, layer, weights, batch);
	size_t T = batch->sequences.T, n = T * block.n.C;

	if (s->attention_in != s->x)
		block_norm(
		    &block, BLOCK_NORM1, s->attention_in, NULL, s->stats1, s->x, NULL, T);
	block_attend(&block, &s->attention, s->attention_in, NULL);
	block_attention_out(&block, &s->attention, s->attention_out);
	block_norm_attention(
	    &block, s->sum1, s->stats_attention_out, s->attention_out, s->x, T);
	block_norm(&block, spec->prenorm ? BLOCK_NORM2 : BLOCK_NORM1, s->mlp_in, s->sum1,
	    spec->prenorm ? s->stats2 : s->stats1, s->x, s->sum1, T);
	if (block.layer->mixture) {
		struct mixture_weights experts = block_mixture(&block, NULL);
		mixture_forward(
		    spec, &experts, s->mixed, NULL, s->mlp_in, &s->mixture, T);
	}
	if (block.n.I)
		block_feed(&block, &s->mlp, &s->mixture, s->mlp_out, s->mlp_in, 0, T);
	if (block.n.I && block.layer->mixture)
		nn_add(s->mlp_out, s->mixed, n);
	block_drop(&block, SPEC_DROP_MLP, s->mlp_out, 0, T, block.n.C);
	block_norm_branch(
	    &block, BLOCK_DOWN_NORM, s->sum2, s->stats_mlp_out, s->mlp_out, T);
	if (spec->prenorm)
		nn_add(s->sum2, s->sum1, n);
	else
		block_norm(&block, BLOCK_NORM2, s->out, s->sum2, s->stats2, s->mlp_in,
		    s->sum2, T);
	if (spec->layer_embedding)
		layer_embedding_forward(&block, &s->layer, s->out, s->sum2, 0, T);
}

/* Backward. ------------------------------------------------------------------------ */

/* One block on the way back. */
struct block_back {
	struct block block;
	const struct block_gradients *gradients;
	const struct block_activations *s;
	const struct block_scratch *scratch;
	size_t T;
};

static void
norm_heads_back(const struct block_back *back, float *dqkv)
{
	const struct block *block = &back->block;
	const struct attention_buffers *s = &back->s->attention;
	struct norm_groups q = block_norm_groups(block, block->n.H);
	struct norm_groups k = block_norm_groups(block, block->n.K);
	float *const *g = back->gradients->at;
	size_t G = block->n.G, Q = block->n.Q, V = Q + block->n.KV;

	if (block->spec->v_norm)
		nn_norm_heads_back(dqkv + V, NULL, NULL, dqkv + V, G, s->raw + V, G,
		    s->stats_v, block_no_weight, NN_RMSNORM_PLUS, back->T, block->n.K,
		    block->n.D);
	if (block->spec->qk_norm == SPEC_QK_PLAIN)
		return;
	nn_norm_heads_back(dqkv, g[BLOCK_Q_NORM], g[BLOCK_Q_NORM_BIAS], dqkv, G, s->raw,
	    G, s->stats_q, block_vector(block, BLOCK_Q_NORM), block->spec->norm, back->T,
	    q.count, q.columns);
	nn_norm_heads_back(dqkv + Q, g[BLOCK_K_NORM], g[BLOCK_K_NORM_BIAS], dqkv + Q, G,
	    s->raw + Q, G, s->stats_k, block_vector(block, BLOCK_K_NORM),
	    block->spec->norm, back->T, k.count, k.columns);
}

/* dqkv, from dattended, of a short convolution. */
static void
convolve_back(const struct block_back *back)
{
	const struct block *block = &back->block;
	const struct block_scratch *scratch = back->scratch;
	float *const *g = back->gradients->at;

	short_conv_back(&(struct short_conv_gradients){ scratch->dqkv, g[BLOCK_CONV],
			    g[BLOCK_CONV_BIAS] },
	    scratch->dattended, back->s->attention.raw, block_vector(block, BLOCK_CONV),
	    block_vector(block, BLOCK_CONV_BIAS), &block->batch->sequences, block->n.C,
	    (size_t)block->spec->conv_taps, block->spec->conv_centred);
}

/* dqkv, from dattended. */
static void
heads_back(const struct block_back *back)
{
	const struct block *block = &back->block;
	const struct attention_buffers *s = &back->s->attention;
	const struct block_sizes *n = &block->n;
	struct nn_attention a = block_attention(block);
	float *from = back->scratch->dqkv;

	nn_attention_back(from, from + n->Q, from + n->Q + n->KV, block->batch->dbias,
	    back->scratch->dattended, s->attended, s->lse, s->qkv, s->qkv + n->Q,
	    block_values(block, s), &a);
	block_rotate(block, from, -1);
	norm_heads_back(back, from);
}

/* From d[T,C], the gradient of attention's output, to dx[T,C], that of its input: = (or += when add).  dx may be d when it
 * adds. */
static void
attend_back(const struct block_back *back, float *dx, bool add, const float *d)
{
	const struct block *block = &back->block;
	const struct attention_buffers *s = &back->s->attention;
	const struct block_scratch *scratch = back->scratch;
	const struct block_sizes *n = &block->n;
	struct linear to[3],
	    out = block_linear(block, back->gradients, BLOCK_OUT, n->Q, n->C);
	struct linear_rows rows = block_rows(block);
	float *from = scratch->dqkv;

	linear_back(
	    &out, &rows, scratch->dattended, false, d, n->C, s->attended, n->Q, back->T);
	if (block->layer->conv)
		convolve_back(back);
	else
		heads_back(back);
	for (int i = 0, count = block_projections(to, block, back->gradients); i < count;
	     from += to[i++].O)
		linear_back(&to[i], &rows, dx, add || i, from, n->G,
		    back->s->attention_in, n->C, back->T);
}

/* The same of the MLP; dx is added to. */
static void
mlp_back(const struct block_back *back, float *dx, const float *d)
{
	const struct block_activations *s = back->s;
	struct mlp mlp = block_mlp(&back->block, back->gradients, 0);
	struct linear gate =
	    block_linear(&back->block, back->gradients, BLOCK_SHARED_GATE, mlp.C, 1);
	float *dinner = back->scratch->dinner;

	mlp_out_back(&mlp, dinner, d, back->T);
	mlp_out_gradients(&mlp, d, s->mlp.inner, back->T);
	block_drop(&back->block, SPEC_DROP_INNER, dinner, 0, back->T, mlp.I);
	if (gate.w.at)
		mixture_share_back(&gate, &mlp.rows, dinner, dx, s->mlp.inner, s->mlp_in,
		    &s->mixture, &back->scratch->mixture, back->T, mlp.I);
	mlp_inner_back(
	    &mlp, dx, true, dinner, s->mlp.up, s->mlp.gate, s->mlp_in, back->T);
}

/* The same of the token experts; dx is added to, and is not d. */
static void
mix_back(const struct block_back *back, float *dx, const float *d)
{
	const struct block *block = &back->block;
	struct mixture_weights experts = block_mixture(block, back->gradients);
	struct mixture_gradients wanted = { back->gradients->at[BLOCK_MIXTURE_BIAS],
		back->gradients->mixture };

	mixture_backward(block->spec, &experts, &wanted, dx, d, back->s->mlp_in,
	    &block->batch->balance, &back->s->mixture, &back->scratch->mixture, back->T);
}

static void
norm_back(const struct block_back *back, enum block_parameter which, float *d,
    const float *s, const float *stats)
{
	const struct block *block = &back->block;

	nn_norm_back(d, back->gradients->at[which], back->gradients->at[which + 1], d, s,
	    stats, block_vector(block, which), block->spec->norm, back->T, block->n.C);
}

/* From the gradient of what a branch adds to that of its output: of block_norm_branch and dropout. */
static const float *
branch_back(const struct block_back *back, enum block_parameter which, const float *d,
    const float *out, const float *stats)
{
	const struct block *block = &back->block;
	float *dout = back->scratch->dgiven;
	size_t C = block->n.C;
	enum spec_drop place =
	    which == BLOCK_OUT_NORM ? SPEC_DROP_ATTENTION : SPEC_DROP_MLP;

	if (block->spec->branch_norms) {
		nn_norm_back(dout, back->gradients->at[which], NULL, d, out, stats,
		    block_vector(block, which), block->spec->norm, back->T, C);
		d = dout;
	} else if (dropout_at(&block->batch->dropout, block->spec, place)) {
		nn_copy(dout, d, back->T * C);
		d = dout;
	}
	block_drop(block, place, dout, 0, back->T, C);
	return d;
}

/* From d, the gradient of what is added to x (block_norm_attention), to that of attention's output; with residual_twice d += that
 * of the other x. */
static const float *
attention_out_back(const struct block_back *back, float *d)
{
	const struct block_activations *s = back->s;
	const struct block *block = &back->block;
	float *dout = back->scratch->dgiven;

	if (!block->spec->residual_twice)
		return branch_back(
		    back, BLOCK_OUT_NORM, d, s->attention_out, s->stats_attention_out);
	nn_norm_back(dout, back->gradients->at[BLOCK_OUT_NORM],
	    back->gradients->at[BLOCK_OUT_NORM_BIAS], d, s->attention_out,
	    s->stats_attention_out, block_vector(block, BLOCK_OUT_NORM),
	    block->spec->norm, back->T, block->n.C);
	nn_add(d, dout, back->T * block->n.C);
	block_drop(block, SPEC_DROP_ATTENTION, dout, 0, back->T, block->n.C);
	return dout;
}

/* Norms after the sums. */
static void
backward_after(const struct block_back *back, float *d)
{
	const struct block_activations *s = back->s;
	const struct block *block = &back->block;
	float *branch = back->scratch->dbranch;
	size_t n = back->T * block->n.C;

	norm_back(back, BLOCK_NORM2, d, s->sum2, s->stats2);
	const float *dout =
	    branch_back(back, BLOCK_DOWN_NORM, d, s->mlp_out, s->stats_mlp_out);
	if (block->layer->mixture) {
		nn_zero(branch, n);
		mix_back(back, branch, dout);
	}
	if (block->n.I)
		mlp_back(back, d, dout);
	if (block->layer->mixture)
		nn_add(d, branch, n);
	norm_back(back, BLOCK_NORM1, d, s->sum1, s->stats1);
	dout = attention_out_back(back, d);
	attend_back(back, d, true, dout);
}

/* Norms before the branches. */
static void
backward_before(const struct block_back *back, float *d)
{
	const struct block_activations *s = back->s;
	const struct block *block = &back->block;
	float *branch = back->scratch->dbranch;
	size_t n = back->T * block->n.C;

	const float *dout =
	    branch_back(back, BLOCK_DOWN_NORM, d, s->mlp_out, s->stats_mlp_out);
	nn_zero(branch, n);
	if (block->n.I)
		mlp_back(back, branch, dout);
	if (block->layer->mixture)
		mix_back(back, branch, dout);
	norm_back(back, BLOCK_NORM2, branch, s->sum1, s->stats2);
	nn_add(d, branch, n);
	dout = branch_back(
	    back, BLOCK_OUT_NORM, d, s->attention_out, s->stats_attention_out);
	if (!block->layer->norm1) {
		attend_back(back, d, true, dout);
		return;
	}
	attend_back(back, branch, false, dout);
	norm_back(back, BLOCK_NORM1, branch, s->x, s->stats1);
	nn_add(d, branch, n);
}

void
block_backward(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_gradients *gradients, const struct block_batch *batch,
    const struct block_activations *s, const struct block_scratch *scratch, float *d)
{
	struct block_back back = { block_of(spec, layer, weights, batch), gradients, s,
		scratch, batch->sequences.T };

	if (spec->layer_embedding)
		layer_embedding_back(
		    &back.block, gradients, &s->layer, scratch, d, s->sum2, back.T);
	if (spec->prenorm)
		backward_before(&back, d);
	else
		backward_after(&back, d);
}
