#include "block.h"

/* Rows that the MLP takes at a time when nothing is kept: its inner activations then stay
 * in the cache, and memory does not grow with the batch. */
enum { STEP = 512 };

/* A norm's weight or a bias. */
static const float *
vector(const struct nn_matrix *at, enum block_parameter which)
{
	return at[which].at;
}

/* Sizes under a specification. */
struct sizes {
	size_t C, Q, KV, G, I;
};

static struct sizes
sizes_of(const struct spec *spec)
{
	size_t D = (size_t)spec->head_size, Q = (size_t)spec->heads * D;
	size_t KV = (size_t)spec->kv_heads * D;

	return (struct sizes){ (size_t)spec->width, Q, KV, Q + 2 * KV,
		(size_t)spec->layer[0].inner };
}

void
block_layout(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, float *x, bool keep)
{
	struct sizes n = sizes_of(spec);

	*state = (struct block_state){ .x = x };
	state->step = keep || T < STEP ? T : STEP;
	state->qkv = workspace_floats(workspace, T, n.G);
	state->attended = workspace_floats(workspace, T, n.Q);
	state->sum1 = workspace_floats(workspace, T, n.C);
	state->up = workspace_floats(workspace, state->step, n.I);
	if (spec->gated)
		state->gate = workspace_floats(workspace, state->step, n.I);
	state->sum2 = workspace_floats(workspace, state->step, n.C);
	if (!keep) {
		state->inner = state->up;
		state->norm1 = state->out = x;
		return;
	}
	state->inner = workspace_floats(workspace, T, n.I);
	state->lse = workspace_floats(workspace, T, (size_t)spec->heads);
	state->stats1 = workspace_floats(workspace, T, 2);
	state->stats2 = workspace_floats(workspace, T, 2);
	state->norm1 = workspace_floats(workspace, T, n.C);
	state->out = workspace_floats(workspace, T, n.C);
}

void
block_scratch_layout(struct block_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T)
{
	struct sizes n = sizes_of(spec);

	scratch->dqkv = workspace_floats(workspace, T, n.G);
	scratch->dattended = workspace_floats(workspace, T, n.Q);
	scratch->dinner = workspace_floats(workspace, T, n.I);
}

static struct nn_attention
attention_of(
    const struct spec *spec, const struct block_batch *batch, const struct sizes *n)
{
	return (struct nn_attention){ .N = batch->N,
		.H = (size_t)spec->heads,
		.K = (size_t)spec->kv_heads,
		.D = (size_t)spec->head_size,
		.ldq = n->G,
		.ldkv = n->G,
		.starts = batch->starts,
		.causal = spec->causal,
		.window = (size_t)spec->layer[0].window };
}

static void
rotate(const struct spec *spec, const struct block_batch *batch, const struct sizes *n,
    float *qkv, int direction)
{
	if (!spec->rotaries)
		return;
	nn_rotary(qkv, n->G, batch->inverse, batch->starts, batch->N, (size_t)spec->heads,
	    (size_t)spec->head_size, direction);
	nn_rotary(qkv + n->Q, n->G, batch->inverse, batch->starts, batch->N,
	    (size_t)spec->kv_heads, (size_t)spec->head_size, direction);
}

static void
attend(const struct spec *spec, const struct nn_matrix *at,
    const struct block_batch *batch, const struct block_state *s, const struct sizes *n)
{
	float *q = s->qkv, *k = q + n->Q, *v = k + n->KV;
	struct nn_attention a = attention_of(spec, batch, n);

	if (spec->fused) {
		nn_linear(q, n->G, s->x, n->C, at[BLOCK_Q], vector(at, BLOCK_Q_BIAS),
		    batch->T, n->C, n->G);
	} else {
		nn_linear(q, n->G, s->x, n->C, at[BLOCK_Q], vector(at, BLOCK_Q_BIAS),
		    batch->T, n->C, n->Q);
		nn_linear(k, n->G, s->x, n->C, at[BLOCK_K], vector(at, BLOCK_K_BIAS),
		    batch->T, n->C, n->KV);
		nn_linear(v, n->G, s->x, n->C, at[BLOCK_V], vector(at, BLOCK_V_BIAS),
		    batch->T, n->C, n->KV);
	}
	rotate(spec, batch, n, s->qkv, 1);
	nn_attention(s->attended, s->lse, q, k, v, &a);
	nn_linear(s->sum1, n->C, s->attended, n->Q, at[BLOCK_OUT],
	    vector(at, BLOCK_OUT_BIAS), batch->T, n->Q, n->C);
}

/* Rows `first` .. `first` + T - 1 of the MLP. */
static void
mlp(const struct spec *spec, const struct nn_matrix *at, const struct block_state *s,
    const struct sizes *n, size_t first, size_t T)
{
	const float *y = s->norm1 + first * n->C;

	if (!spec->gated && !s->stats2) { /* nobody will ask for what was before act */
		nn_linear_activate(s->inner, n->I, y, n->C, at[BLOCK_UP],
		    vector(at, BLOCK_UP_BIAS), spec->act, T, n->C, n->I);
	} else {
		nn_linear(s->up, n->I, y, n->C, at[BLOCK_UP], vector(at, BLOCK_UP_BIAS),
		    T, n->C, n->I);
		if (spec->gated) {
			nn_linear(s->gate, n->I, y, n->C, at[BLOCK_GATE],
			    vector(at, BLOCK_GATE_BIAS), T, n->C, n->I);
			nn_gate(s->inner, s->up, s->gate, n->I, spec->act, T, n->I);
		} else {
			nn_activate(s->inner, s->up, spec->act, T * n->I);
		}
	}
	nn_linear(s->sum2, n->C, s->inner, n->I, at[BLOCK_DOWN],
	    vector(at, BLOCK_DOWN_BIAS), T, n->I, n->C);
	nn_norm(s->out + first * n->C, s->stats2 ? s->sum2 : NULL, s->stats2, y, s->sum2,
	    vector(at, BLOCK_NORM2), vector(at, BLOCK_NORM2_BIAS), spec->norm_eps,
	    spec->norm, T, n->C);
}

void
block_forward(const struct spec *spec, const struct block_weights *weights,
    const struct block_batch *batch, const struct block_state *s)
{
	struct sizes n = sizes_of(spec);
	const struct nn_matrix *at = weights->at;

	attend(spec, at, batch, s, &n);
	nn_norm(s->norm1, s->stats1 ? s->sum1 : NULL, s->stats1, s->x, s->sum1,
	    vector(at, BLOCK_NORM1), vector(at, BLOCK_NORM1_BIAS), spec->norm_eps,
	    spec->norm, batch->T, n.C);
	for (size_t first = 0; first < batch->T; first += s->step) {
		size_t left = batch->T - first;
		mlp(spec, at, s, &n, first, left < s->step ? left : s->step);
	}
}

/* d: gradient of z, then of y. */
static void
mlp_back(const struct spec *spec, const struct nn_matrix *at, float *const *g,
    const struct block_state *s, float *dinner, const struct sizes *n, size_t T, float *d)
{
	nn_norm_back(d, g[BLOCK_NORM2], g[BLOCK_NORM2_BIAS], d, s->sum2, s->stats2,
	    vector(at, BLOCK_NORM2), spec->norm, T, n->C);
	nn_linear_back(dinner, false, g[BLOCK_DOWN], g[BLOCK_DOWN_BIAS], d, n->C,
	    s->inner, n->I, at[BLOCK_DOWN], T, n->I, n->C);
	float *dup = dinner;
	if (spec->gated) {
		dup = s->up;
		nn_gate_back(
		    s->up, s->gate, dinner, s->up, s->gate, n->I, spec->act, T, n->I);
		nn_linear_back(d, true, g[BLOCK_GATE], g[BLOCK_GATE_BIAS], s->gate, n->I,
		    s->norm1, n->C, at[BLOCK_GATE], T, n->C, n->I);
	} else {
		nn_activate_back(dinner, dinner, s->up, spec->act, T * n->I);
	}
	nn_linear_back(d, true, g[BLOCK_UP], g[BLOCK_UP_BIAS], dup, n->I, s->norm1, n->C,
	    at[BLOCK_UP], T, n->C, n->I);
}

/* d: gradient of the sum before norm1, then of x. */
static void
attend_back(const struct spec *spec, const struct nn_matrix *at, float *const *g,
    const struct block_batch *batch, const struct block_state *s,
    const struct block_scratch *scratch, const struct sizes *n, float *d)
{
	float *q = s->qkv, *k = q + n->Q, *v = k + n->KV;
	float *dq = scratch->dqkv, *dk = dq + n->Q, *dv = dk + n->KV;
	struct nn_attention a = attention_of(spec, batch, n);
	size_t T = batch->T;

	nn_linear_back(scratch->dattended, false, g[BLOCK_OUT], g[BLOCK_OUT_BIAS], d,
	    n->C, s->attended, n->Q, at[BLOCK_OUT], T, n->Q, n->C);
	nn_attention_back(
	    dq, dk, dv, scratch->dattended, s->attended, s->lse, q, k, v, &a);
	rotate(spec, batch, n, scratch->dqkv, -1);
	if (spec->fused) {
		nn_linear_back(d, true, g[BLOCK_Q], g[BLOCK_Q_BIAS], dq, n->G, s->x, n->C,
		    at[BLOCK_Q], T, n->C, n->G);
		return;
	}
	nn_linear_back(d, true, g[BLOCK_Q], g[BLOCK_Q_BIAS], dq, n->G, s->x, n->C,
	    at[BLOCK_Q], T, n->C, n->Q);
	nn_linear_back(d, true, g[BLOCK_K], g[BLOCK_K_BIAS], dk, n->G, s->x, n->C,
	    at[BLOCK_K], T, n->C, n->KV);
	nn_linear_back(d, true, g[BLOCK_V], g[BLOCK_V_BIAS], dv, n->G, s->x, n->C,
	    at[BLOCK_V], T, n->C, n->KV);
}

void
block_backward(const struct spec *spec, const struct block_weights *weights,
    const struct block_gradients *gradients, const struct block_batch *batch,
    const struct block_state *s, const struct block_scratch *scratch, float *d)
{
	struct sizes n = sizes_of(spec);
	const struct nn_matrix *at = weights->at;
	float *const *g = gradients->at;

	mlp_back(spec, at, g, s, scratch->dinner, &n, batch->T, d);
	nn_norm_back(d, g[BLOCK_NORM1], g[BLOCK_NORM1_BIAS], d, s->sum1, s->stats1,
	    vector(at, BLOCK_NORM1), spec->norm, batch->T, n.C);
	attend_back(spec, at, g, batch, s, scratch, &n, d);
}
