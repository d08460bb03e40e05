/* The attention of a block: projections, norms of q and k, rotation, and the way back. */
#include "model/block_internal.h"

static struct nn_attention
attention_of(const struct block *block)
{
	const struct sizes *n = &block->n;

	return (struct nn_attention){ .N = block->batch->N,
		.H = n->H,
		.K = n->K,
		.D = n->D,
		.ldq = n->G,
		.ldkv = n->G,
		.starts = block->batch->starts,
		.causal = block->spec->causal,
		.window = (size_t)block->layer->window };
}

static void
rotate(const struct block *block, float *qkv, int direction)
{
	const struct block_batch *batch = block->batch;
	const struct sizes *n = &block->n;

	if (!block->spec->rotaries)
		return;
	const struct block_rotary *rotary = &batch->rotary[block->layer->rotary];
	nn_rotary(qkv, n->G, rotary->inverse, rotary->step, batch->starts, batch->N, n->H,
	    n->D, direction);
	nn_rotary(qkv + n->Q, n->G, rotary->inverse, rotary->step, batch->starts,
	    batch->N, n->K, n->D, direction);
}

/* How q and k are normed: as so many stretches of so many columns. */
struct stretches {
	size_t heads, columns;
};

static struct stretches
stretches_of(const struct block *block, size_t heads)
{
	size_t D = block->n.D;

	return block->spec->qk_norm == SPEC_QK_ALL ? (struct stretches){ 1, heads * D }
						   : (struct stretches){ heads, D };
}

static void
norm_heads(const struct block *block)
{
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	struct stretches q = stretches_of(block, block->n.H);
	struct stretches k = stretches_of(block, block->n.K);
	size_t T = block->batch->T, G = block->n.G, Q = block->n.Q;
	float eps = block->spec->norm_eps;

	if (block->spec->qk_norm == SPEC_QK_PLAIN)
		return;
	nn_norm_heads(s->qkv, G, s->stats_q, s->raw, G, vector(at, BLOCK_Q_NORM), eps, T,
	    q.heads, q.columns);
	nn_norm_heads(s->qkv + Q, G, s->stats_k, s->raw + Q, G, vector(at, BLOCK_K_NORM),
	    eps, T, k.heads, k.columns);
}

static void
norm_heads_back(
    const struct block *block, const struct block_gradients *gradients, float *dqkv)
{
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	struct stretches q = stretches_of(block, block->n.H);
	struct stretches k = stretches_of(block, block->n.K);
	size_t T = block->batch->T, G = block->n.G, Q = block->n.Q;

	if (block->spec->qk_norm == SPEC_QK_PLAIN)
		return;
	nn_norm_heads_back(dqkv, gradients->at[BLOCK_Q_NORM], dqkv, G, s->raw, G,
	    s->stats_q, vector(at, BLOCK_Q_NORM), T, q.heads, q.columns);
	nn_norm_heads_back(dqkv + Q, gradients->at[BLOCK_K_NORM], dqkv + Q, G, s->raw + Q,
	    G, s->stats_k, vector(at, BLOCK_K_NORM), T, k.heads, k.columns);
}

void
block_attend(const struct block *block, float *branch)
{
	static const enum block_parameter weight[] = { BLOCK_Q, BLOCK_K, BLOCK_V };
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	const struct sizes *n = &block->n;
	struct nn_attention a = attention_of(block);
	size_t T = block->batch->T, width[] = { n->Q, n->KV, n->KV };
	float *to = s->raw;

	if (block->spec->fused)
		nn_linear(to, n->G, s->entry, n->C, at[BLOCK_Q], vector(at, BLOCK_Q_BIAS),
		    T, n->C, n->G);
	for (int i = 0; i < 3 && !block->spec->fused; to += width[i++])
		nn_linear(to, n->G, s->entry, n->C, at[weight[i]],
		    vector(at, weight[i] + 1), T, n->C, width[i]);
	norm_heads(block);
	rotate(block, s->qkv, 1);
	nn_attention(
	    s->attended, s->lse, s->qkv, s->qkv + n->Q, s->raw + n->Q + n->KV, &a);
	nn_linear(branch, n->C, s->attended, n->Q, at[BLOCK_OUT],
	    vector(at, BLOCK_OUT_BIAS), T, n->Q, n->C);
}

void
block_attend_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, bool add, const float *d)
{
	static const enum block_parameter weight[] = { BLOCK_Q, BLOCK_K, BLOCK_V };
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	float *const *g = gradients->at;
	const struct sizes *n = &block->n;
	struct nn_attention a = attention_of(block);
	size_t T = block->batch->T, width[] = { n->Q, n->KV, n->KV };
	float *from = scratch->dqkv;

	nn_linear_back(scratch->dattended, false, g[BLOCK_OUT], g[BLOCK_OUT_BIAS], d,
	    n->C, s->attended, n->Q, at[BLOCK_OUT], T, n->Q, n->C);
	nn_attention_back(from, from + n->Q, from + n->Q + n->KV, scratch->dattended,
	    s->attended, s->lse, s->qkv, s->qkv + n->Q, s->raw + n->Q + n->KV, &a);
	rotate(block, from, -1);
	norm_heads_back(block, gradients, from);
	if (block->spec->fused)
		nn_linear_back(dx, add, g[BLOCK_Q], g[BLOCK_Q_BIAS], from, n->G, s->entry,
		    n->C, at[BLOCK_Q], T, n->C, n->G);
	for (int i = 0; i < 3 && !block->spec->fused; from += width[i++])
		nn_linear_back(dx, add || i, g[weight[i]], g[weight[i] + 1], from, n->G,
		    s->entry, n->C, at[weight[i]], T, n->C, width[i]);
}
