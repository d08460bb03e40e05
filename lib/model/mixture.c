#include "model/mixture.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/mlp.h"

struct mixture_sizes {
	size_t C, E, I, top;
};

static struct mixture_sizes
sizes_of(const struct spec *spec)
{
	const struct spec_mixture *m = &spec->mixture;

	return (struct mixture_sizes){ (size_t)spec->width, (size_t)m->count,
		(size_t)m->inner, (size_t)m->top };
}

/* Rows of an expert at a time: scratch does not grow with the batch. */
static size_t
step_of(size_t T)
{
	size_t step = nn_chunk_rows();

	return T < step ? T : step;
}

void
mixture_layout(struct mixture_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, bool keep)
{
	struct mixture_sizes n = sizes_of(spec);
	size_t step = step_of(T);

	*state = (struct mixture_state){ .keep = keep, .step = step };
	state->p = workspace_floats(workspace, T, n.E);
	state->weights = workspace_floats(workspace, 2 * T, n.top);
	state->chosen = workspace_take(workspace, T, n.top, sizeof(int32_t));
	state->rows = workspace_take(workspace, T, n.top, sizeof(int32_t));
	state->slots = workspace_take(workspace, T, n.top, sizeof(int32_t));
	state->offsets = workspace_take(workspace, n.E + 1, 1, sizeof(int32_t));
	state->up = workspace_floats(workspace, keep ? T * n.top : step, n.I);
	if (spec->gated)
		state->gate = workspace_floats(workspace, keep ? T * n.top : step, n.I);
	state->inner = keep ? workspace_floats(workspace, step, n.I) : state->up;
	state->x = workspace_floats(workspace, step, n.C);
	state->y = workspace_floats(workspace, step, n.C);
	if (!spec->mixture.shared_gate)
		return;
	state->logit = workspace_floats(workspace, T, 1);
	state->share = workspace_floats(workspace, T, 1);
}

void
mixture_scratch_layout(struct mixture_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T)
{
	struct mixture_sizes n = sizes_of(spec);

	scratch->dp = workspace_floats(workspace, T, n.E);
	scratch->dbalance = workspace_floats(workspace, T, n.E);
	scratch->dw = workspace_floats(workspace, 2 * T, n.top);
	scratch->dinner = workspace_floats(workspace, step_of(T), n.I);
}

void
mixture_choose(
    const struct spec *spec, const struct mixture_state *s, const float *logits, size_t T)
{
	struct mixture_sizes n = sizes_of(spec);

	nn_softmax(s->p, logits, T, n.E);
	nn_route(s->chosen, s->weights + T * n.top, s->p, spec->mixture.renormalize, T,
	    n.E, n.top);
	nn_sort_by_expert(s->rows, s->slots, s->offsets, s->chosen, T, n.E, n.top);
}

/* The experts and weights of each token. */
static void
route(const struct spec *spec, const struct mixture_weights *weigh, float *logits,
    const float *y, const struct mixture_state *s, const struct mixture_sizes *n,
    size_t T)
{
	float *to = logits ? logits : s->p;
	struct linear_rows all = { .batch = weigh->batch };

	linear_forward(&weigh->router, &all, to, n->E, y, n->C, T);
	mixture_choose(spec, s, to, T);
	nn_gather(s->weights, s->weights + T * n->top, s->slots, T * n->top, 1);
}

/* Rows of one expert, from `first` on of all rows sorted by expert. */
struct expert_rows {
	size_t expert, first, rows;
};

/* Steps to the next rows, `step` at most; from { 0 } to the first.  False after the last. */
static bool
next_part(struct expert_rows *part, const int32_t *offsets, size_t step, size_t E)
{
	part->first += part->rows;
	while (part->expert < E && part->first == (size_t)offsets[part->expert + 1])
		part->expert++;
	if (part->expert == E)
		return false;
	part->rows = (size_t)offsets[part->expert + 1] - part->first;
	part->rows = part->rows < step ? part->rows : step;
	return true;
}

/* The next parts, of `step` rows at most together; returns how many. */
static size_t
next_parts(struct expert_rows *parts, struct expert_rows *last, const int32_t *offsets,
    size_t step, size_t E)
{
	struct expert_rows next = *last;
	size_t count = 0, rows = 0;

	while (count < LINEAR_GROUPS && next_part(&next, offsets, step, E)) {
		rows += next.rows;
		if (rows > step)
			break;
		parts[count++] = *last = next;
	}
	return count;
}

/* A part's rows of up or gate. */
static float *
rows_at(
    const struct mixture_state *s, float *of, const struct expert_rows *part, size_t I)
{
	return of && s->keep ? of + part->first * I : of;
}

/* The token of each row, in host memory, to be freed; NULL: no sequence goes through an adapter. */
static int32_t *
tokens_of(const struct mixture_weights *weights, const struct mixture_state *s,
    const struct mixture_sizes *n, size_t T)
{
	int32_t *tokens = NULL;

	if (weights->batch->count) {
		tokens = mem_new(T, n->top * sizeof *tokens);
		nn_download(tokens, s->rows, T * n->top * sizeof *tokens);
	}
	return tokens;
}

static struct mlp
expert_of(const struct spec *spec, const struct mixture_weights *weights,
    const struct mixture_gradients *gradients, const struct mixture_state *s,
    const struct expert_rows *part, const int32_t *tokens, const struct mixture_sizes *n)
{
	bool learns = gradients && gradients->experts;
	const int32_t *rows = s->rows + part->first;

	if (tokens)
		tokens += part->first;
	return (struct mlp){ .at = weights->experts[part->expert],
		.gradients = learns ? gradients->experts[part->expert] : NULL,
		.pairs = weights->pairs[part->expert],
		.rows = { weights->batch, 0, tokens, rows },
		.act = spec->act,
		.gated = spec->gated,
		.transposed = spec->mixture.turned,
		.C = n->C,
		.I = n->I };
}

/* Adds the weighed outputs of some parts to out. */
static void
parts_forward(const struct spec *spec, const struct mixture_weights *weights, float *out,
    const float *y, const struct mixture_state *s, const struct expert_rows *parts,
    size_t count, const int32_t *tokens, const struct mixture_sizes *n)
{
	struct mlp mlps[LINEAR_GROUPS];
	size_t counts[LINEAR_GROUPS], R = 0;
	const int32_t *rows = s->rows + parts->first;
	float *up = rows_at(s, s->up, parts, n->I),
	      *gate = rows_at(s, s->gate, parts, n->I);

	for (size_t i = 0; i < count; i++) {
		mlps[i] = expert_of(spec, weights, NULL, s, &parts[i], tokens, n);
		R += counts[i] = parts[i].rows;
	}
	nn_gather(s->x, y, rows, R, n->C);
	mlp_inner_each(mlps, counts, count, s->inner, up, gate, s->x);
	mlp_out_each(mlps, counts, count, s->y, s->inner);
	nn_scale_rows(s->y, s->weights + parts->first, R, n->C);
	nn_scatter_add(out, s->y, rows, R, n->C);
}

void
mixture_forward(const struct spec *spec, const struct mixture_weights *weights,
    float *out, float *logits, const float *y, const struct mixture_state *s, size_t T)
{
	struct mixture_sizes n = sizes_of(spec);
	int32_t offsets[SPEC_TOKEN_EXPERTS + 1], *tokens;
	struct expert_rows parts[LINEAR_GROUPS], last = { 0 };

	route(spec, weights, logits, y, s, &n, T);
	nn_download(offsets, s->offsets, (n.E + 1) * sizeof *offsets);
	tokens = tokens_of(weights, s, &n, T);
	nn_zero(out, T * n.C);
	for (size_t count; (count = next_parts(parts, &last, offsets, s->step, n.E));)
		parts_forward(spec, weights, out, y, s, parts, count, tokens, &n);
	free(tokens);
	if (weights->bias)
		nn_add_row(out, weights->bias, T, n.C);
}

/* One part of the backward pass; dw: of its rows. */
static void
part_back(const struct mlp *mlp, float *dy, const float *dout, const float *y,
    const struct mixture_state *s, float *dinner, float *dw,
    const struct expert_rows *part)
{
	const int32_t *rows = s->rows + part->first;
	const float *w = s->weights + part->first;
	float *up = rows_at(s, s->up, part, mlp->I),
	      *gate = rows_at(s, s->gate, part, mlp->I);
	size_t R = part->rows, C = mlp->C, I = mlp->I;

	/* out = w (down(inner) + b), so dw = (down(inner) + b) . dout, and
	 * down(inner) . dout = inner . (dout down) */
	nn_gather(s->y, dout, rows, R, C);
	mlp_out_back(mlp, dinner, s->y, R);
	mlp_inner_again(mlp, s->inner, up, gate, R);
	nn_dot_rows(dw, dinner, s->inner, R, I);
	if (mlp->at[MLP_DOWN_BIAS].at) {
		nn_linear(s->x, 1, s->y, C, mlp->at[MLP_DOWN_BIAS], NULL, R, C, 1);
		nn_add(dw, s->x, R);
	}
	nn_scale_rows(dinner, w, R, I);
	nn_scale_rows(s->y, w, R, C);
	mlp_out_gradients(mlp, s->y, s->inner, R);
	nn_gather(s->x, y, rows, R, C);
	mlp_inner_back(mlp, s->y, false, dinner, up, gate, s->x, R);
	nn_scatter_add(dy, s->y, rows, R, C);
}

void
mixture_backward(const struct spec *spec, const struct mixture_weights *weights,
    const struct mixture_gradients *gradients, float *dy, const float *dout,
    const float *y, const struct mixture_balance *balance, const struct mixture_state *s,
    const struct mixture_scratch *scratch, size_t T)
{
	struct mixture_sizes n = sizes_of(spec);
	int32_t offsets[SPEC_TOKEN_EXPERTS + 1], *tokens = tokens_of(weights, s, &n, T);
	struct linear_rows all = { .batch = weights->batch };
	struct expert_rows part = { 0 };
	float *dw = scratch->dw, *dslots = dw + T * n.top;

	nn_download(offsets, s->offsets, (n.E + 1) * sizeof *offsets);
	while (next_part(&part, offsets, s->step, n.E)) {
		struct mlp mlp =
		    expert_of(spec, weights, gradients, s, &part, tokens, &n);
		part_back(&mlp, dy, dout, y, s, scratch->dinner, dw + part.first, &part);
	}
	free(tokens);
	/* the bias' gradient: the column sums of dout */
	nn_linear_back(NULL, false, NULL, gradients->bias, dout, n.C, y, n.C,
	    weights->router.w, T, n.C, n.C);
	nn_zero(dslots, T * n.top);
	nn_scatter_add(dslots, dw, s->slots, T * n.top, 1);
	nn_route_back(scratch->dp, dslots, s->chosen, s->p, spec->mixture.renormalize, T,
	    n.E, n.top);
	if (balance->gradients) {
		nn_gather(scratch->dbalance, balance->gradients, balance->sides, T, n.E);
		nn_add(scratch->dp, scratch->dbalance, T * n.E);
	}
	nn_softmax_back(scratch->dp, scratch->dp, s->p, T, n.E);
	linear_back(&weights->router, &all, dy, true, scratch->dp, n.E, y, n.C, T);
}

void
mixture_share(const struct linear *gate, const struct linear_rows *rows, float *inner,
    const float *y, const struct mixture_state *s, size_t T, size_t I)
{
	float *logit = s->logit + rows->first, *share = s->share + rows->first;

	linear_forward(gate, rows, logit, 1, y, gate->C, T);
	nn_activate(share, logit, NN_SIGMOID, T);
	nn_scale_rows(inner, share, T, I);
}

void
mixture_share_back(const struct linear *gate, const struct linear_rows *rows,
    float *dinner, float *dy, const float *inner, const float *y,
    const struct mixture_state *s, const struct mixture_scratch *scratch, size_t T,
    size_t I)
{
	float *d = scratch->dw;

	/* d share = share (1 - share); `inner` has the first factor, and 1 - sigmoid(x) = sigmoid(-x) */
	nn_dot_rows(d, dinner, inner, T, I);
	nn_scale(s->logit, -1, T);
	nn_activate(s->logit, s->logit, NN_SIGMOID, T);
	nn_scale_rows(d, s->logit, T, 1);
	nn_scale_rows(dinner, s->share, T, I);
	linear_back(gate, rows, dy, true, d, 1, y, gate->C, T);
}
