#include "model/mixture.h"

/* Rows of an expert at a time: scratch does not grow with the batch, and stays in the cache. */
enum { STEP = 512 };

/* Sizes under a specification. */
struct sizes {
	size_t C, E, I, top;
};

static struct sizes
sizes_of(const struct spec *spec)
{
	const struct spec_mixture *m = &spec->mixture;

	return (struct sizes){ (size_t)spec->width, (size_t)m->count, (size_t)m->inner,
		(size_t)m->top };
}

void
mixture_layout(struct mixture_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, bool keep)
{
	struct sizes n = sizes_of(spec);
	size_t step = T < STEP ? T : STEP;

	*state = (struct mixture_state){ .keep = keep, .step = step };
	state->p = workspace_floats(workspace, T, n.E);
	state->weights = workspace_floats(workspace, 2 * T, n.top);
	state->chosen = workspace_take(workspace, T, n.top, sizeof(int32_t));
	state->rows = workspace_take(workspace, T, n.top, sizeof(int32_t));
	state->slots = workspace_take(workspace, T, n.top, sizeof(int32_t));
	state->offsets = workspace_take(workspace, n.E + 1, 1, sizeof(int32_t));
	state->up = workspace_floats(workspace, keep ? T * n.top : step, n.I);
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
	struct sizes n = sizes_of(spec);

	scratch->dp = workspace_floats(workspace, T, n.E);
	scratch->dw = workspace_floats(workspace, 2 * T, n.top);
	scratch->dinner = workspace_floats(workspace, T < STEP ? T : STEP, n.I);
}

/* Which tokens go where, and with what weight. */
static void
route(const struct spec *spec, struct nn_matrix router, float *logits, const float *y,
    const struct mixture_state *s, const struct sizes *n, size_t T)
{
	float *to = logits ? logits : s->p, *weights = s->weights + T * n->top;

	nn_linear(to, n->E, y, n->C, router, NULL, T, n->C, n->E);
	nn_softmax(s->p, to, T, n->E);
	nn_route(s->chosen, weights, s->p, spec->mixture.renormalize, T, n->E, n->top);
	nn_group(s->rows, s->slots, s->offsets, s->chosen, T, n->E, n->top);
	nn_gather(s->weights, weights, s->slots, T * n->top, 1);
}

/* An expert and some of the rows that it has: `first` of all rows in the order of experts. */
struct part {
	size_t expert, first, rows;
};

/* Step to the next part; from { 0 } to the first.  False after the last. */
static bool
next_part(struct part *part, const int32_t *offsets, size_t step, size_t E)
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

/* Where the state has a part's inner activations. */
static size_t
inner_of(const struct mixture_state *s, const struct part *part, const struct sizes *n)
{
	return s->keep ? part->first * n->I : 0;
}

void
mixture_forward(const struct spec *spec, const struct mixture_weights *weights,
    float *out, float *logits, const float *y, const struct mixture_state *s, size_t T)
{
	struct sizes n = sizes_of(spec);
	int32_t offsets[SPEC_TOKEN_EXPERTS + 1];
	struct part part = { 0 };

	route(spec, weights->router, logits, y, s, &n, T);
	nn_download(offsets, s->offsets, (n.E + 1) * sizeof *offsets);
	nn_zero(out, T * n.C);
	while (next_part(&part, offsets, s->step, n.E)) {
		const struct nn_matrix *at = weights->experts[part.expert];
		const int32_t *rows = s->rows + part.first;
		float *up = s->up + inner_of(s, &part, &n);
		float *gate = s->gate + inner_of(s, &part, &n);
		size_t R = part.rows;

		nn_gather(s->x, y, rows, R, n.C);
		nn_linear(up, n.I, s->x, n.C, at[MIXTURE_UP], NULL, R, n.C, n.I);
		nn_linear(gate, n.I, s->x, n.C, at[MIXTURE_GATE], NULL, R, n.C, n.I);
		nn_gate(s->inner, up, gate, n.I, spec->act, R, n.I);
		nn_scale_rows(s->inner, s->weights + part.first, R, n.I);
		nn_linear(s->y, n.C, s->inner, n.I, at[MIXTURE_DOWN], NULL, R, n.I, n.C);
		nn_scatter_add(out, s->y, rows, R, n.C);
	}
}

/* One part of the backward; dw of its rows. */
static void
part_back(const struct spec *spec, const struct nn_matrix *at, float *const *g, float *dy,
    const float *dout, const float *y, const struct mixture_state *s, float *dinner,
    float *dw, const struct part *part, const struct sizes *n)
{
	const int32_t *rows = s->rows + part->first;
	const float *w = s->weights + part->first;
	float *up = s->up + inner_of(s, part, n), *gate = s->gate + inner_of(s, part, n);
	size_t R = part->rows, C = n->C, I = n->I;

	/* out = w down(inner): down(inner) . dout = inner . (dout down), and so without w */
	nn_gather(s->y, dout, rows, R, C);
	nn_linear_back(
	    dinner, false, NULL, NULL, s->y, C, NULL, I, at[MIXTURE_DOWN], R, I, C);
	nn_gate(s->inner, up, gate, I, spec->act, R, I);
	nn_dot_rows(dw, dinner, s->inner, R, I);
	nn_scale_rows(dinner, w, R, I);
	if (g[MIXTURE_DOWN]) {
		nn_scale_rows(s->inner, w, R, I);
		nn_linear_back(NULL, false, g[MIXTURE_DOWN], NULL, s->y, C, s->inner, I,
		    at[MIXTURE_DOWN], R, I, C);
	}
	nn_gate_back(up, gate, dinner, up, gate, I, spec->act, R, I);
	nn_gather(s->x, y, rows, R, C);
	nn_linear_back(
	    s->y, false, g[MIXTURE_UP], NULL, up, I, s->x, C, at[MIXTURE_UP], R, C, I);
	nn_linear_back(s->y, true, g[MIXTURE_GATE], NULL, gate, I, s->x, C,
	    at[MIXTURE_GATE], R, C, I);
	nn_scatter_add(dy, s->y, rows, R, C);
}

void
mixture_backward(const struct spec *spec, const struct mixture_weights *weights,
    const struct mixture_gradients *gradients, float *dy, const float *dout,
    const float *y, const struct mixture_state *s, const struct mixture_scratch *scratch,
    size_t T)
{
	static float *const none[MIXTURE_PARAMETERS];
	struct sizes n = sizes_of(spec);
	int32_t offsets[SPEC_TOKEN_EXPERTS + 1];
	struct part part = { 0 };
	float *dw = scratch->dw, *dslots = dw + T * n.top;

	nn_download(offsets, s->offsets, (n.E + 1) * sizeof *offsets);
	while (next_part(&part, offsets, s->step, n.E))
		part_back(spec, weights->experts[part.expert],
		    gradients->experts ? gradients->experts[part.expert] : none, dy, dout,
		    y, s, scratch->dinner, dw + part.first, &part, &n);
	nn_zero(dslots, T * n.top);
	nn_scatter_add(dslots, dw, s->slots, T * n.top, 1);
	nn_route_back(scratch->dp, dslots, s->chosen, s->p, spec->mixture.renormalize, T,
	    n.E, n.top);
	nn_softmax_back(scratch->dp, scratch->dp, s->p, T, n.E);
	nn_linear_back(dy, true, gradients->router, NULL, scratch->dp, n.E, y, n.C,
	    weights->router, T, n.C, n.E);
}

void
mixture_share(struct nn_matrix gate, float *inner, const float *y,
    const struct mixture_state *s, size_t first, size_t T, size_t C, size_t I)
{
	float *logit = s->logit + first, *share = s->share + first;

	nn_linear(logit, 1, y, C, gate, NULL, T, C, 1);
	nn_activate(share, logit, NN_SIGMOID, T);
	nn_scale_rows(inner, share, T, I);
}

void
mixture_share_back(struct nn_matrix gate, float *dgate, float *dinner, float *dy,
    const float *inner, const float *y, const struct mixture_state *s,
    const struct mixture_scratch *scratch, size_t T, size_t C, size_t I)
{
	float *d = scratch->dw;

	/* the slope of a share is share (1 - share); `inner` has the first, and
	 * 1 - sigmoid(x) = sigmoid(-x) */
	nn_dot_rows(d, dinner, inner, T, I);
	nn_scale(s->logit, -1, T);
	nn_activate(s->logit, s->logit, NN_SIGMOID, T);
	nn_scale_rows(d, s->logit, T, 1);
	nn_scale_rows(dinner, s->share, T, I);
	nn_linear_back(dy, true, dgate, NULL, d, 1, y, C, gate, T, C, 1);
}
