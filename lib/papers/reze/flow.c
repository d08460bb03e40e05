#include "papers/reze/flow.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/workspace.h"
#include "nn/nn.h"

enum { BLOCK = 256 }; /* rows computed at a time */

static const double log_two_pi = 1.8378770664093453;

/* Activations of a step, for the backward pass. */
struct step_state {
	float *scaled;		  /* [rows,width] after ActNorm */
	float *upper;		  /* [rows,width] after U */
	float *mixed;		  /* [rows,width] after P L */
	float *hidden1, *hidden2; /* [rows,hidden] */
	float *coupling;	  /* [rows,2 rest] */
};

struct flow_pass {
	const struct flow *flow;
	struct workspace workspace;
	struct step_state *states; /* [kept]: one per step, or one for all */
	int kept;
	float *z, *other, *dhidden, *dcoupling;
	double *log_determinant;
};

static size_t
width_of(const struct flow *flow)
{
	return (size_t)flow->shape.width;
}

/* The coupling reads the first half, and changes the second. */
static size_t
first_half(const struct flow *flow)
{
	return width_of(flow) / 2;
}

static size_t
second_half(const struct flow *flow)
{
	return width_of(flow) - first_half(flow);
}

static size_t
part_size(const struct flow *flow, enum flow_part part)
{
	size_t width = width_of(flow), hidden = (size_t)flow->shape.hidden;

	switch (part) {
	case FLOW_UPPER:
	case FLOW_LOWER: return mem_multiply(width, width, "a flow");
	case FLOW_HIDDEN1: return mem_multiply(hidden, first_half(flow), "a flow");
	case FLOW_HIDDEN2: return mem_multiply(hidden, hidden, "a flow");
	case FLOW_COUPLING: return mem_multiply(2 * second_half(flow), hidden, "a flow");
	case FLOW_HIDDEN1_BIAS:
	case FLOW_HIDDEN2_BIAS: return hidden;
	case FLOW_COUPLING_BIAS: return 2 * second_half(flow);
	default: return width;
	}
}

struct flow *
flow_new(const struct flow_shape *shape)
{
	struct flow *flow = mem_zero(1, sizeof *flow);
	size_t steps = (size_t)shape->steps;

	if (nn_device())
		die("flows are computed by the processor; take geom of build/cpu");
	flow->shape = *shape;
	for (int part = 0; part < FLOW_PARTS; part++)
		flow->offsets[part + 1] =
		    flow->offsets[part] + part_size(flow, (enum flow_part)part);
	flow->values = nn_alloc(
	    mem_multiply(steps, flow->offsets[FLOW_PARTS] * sizeof(float), "a flow"));
	flow->permutations = mem_zero(steps * width_of(flow), sizeof(int32_t));
	return flow;
}

void
flow_free(struct flow *flow)
{
	nn_free(flow->values, flow_size(flow) * sizeof(float));
	free(flow->permutations);
	free(flow);
}

size_t
flow_size(const struct flow *flow)
{
	return (size_t)flow->shape.steps * flow->offsets[FLOW_PARTS];
}

static float *
part_in(const struct flow *flow, float *block, int step, enum flow_part part)
{
	return block + (size_t)step * flow->offsets[FLOW_PARTS] + flow->offsets[part];
}

float *
flow_part(const struct flow *flow, int step, enum flow_part part)
{
	return part_in(flow, flow->values, step, part);
}

static struct nn_matrix
matrix(const struct flow *flow, int step, enum flow_part part)
{
	return nn_f32(flow_part(flow, step, part));
}

void
flow_refresh(struct flow *flow)
{
	size_t width = width_of(flow);

	for (int step = 0; step < flow->shape.steps; step++) {
		float *upper = flow_part(flow, step, FLOW_UPPER);
		const float *logs = flow_part(flow, step, FLOW_LOG_DIAGONAL);
		for (size_t i = 0; i < width; i++)
			upper[i * width + i] =
			    copysignf(expf(logs[i]), upper[i * width + i]);
	}
}

/* Passes. -------------------------------------------------------------------------- */

static void
layout(struct flow_pass *pass, size_t rows)
{
	struct workspace *w = &pass->workspace;
	size_t width = width_of(pass->flow), hidden = (size_t)pass->flow->shape.hidden;
	size_t rest = second_half(pass->flow);

	for (int i = 0; i < pass->kept; i++)
		pass->states[i] =
		    (struct step_state){ .scaled = workspace_floats(w, rows, width),
			    .upper = workspace_floats(w, rows, width),
			    .mixed = workspace_floats(w, rows, width),
			    .hidden1 = workspace_floats(w, rows, hidden),
			    .hidden2 = workspace_floats(w, rows, hidden),
			    .coupling = workspace_floats(w, rows, 2 * rest) };
	pass->z = workspace_floats(w, rows, width);
	pass->other = workspace_floats(w, rows, width);
	pass->dhidden = workspace_floats(w, rows, hidden);
	pass->dcoupling = workspace_floats(w, rows, 2 * rest);
	pass->log_determinant = workspace_take(w, rows, 1, sizeof(double));
}

/* kept: number of steps whose activations are kept. */
static struct flow_pass *
pass_new(const struct flow *flow, size_t rows, int kept)
{
	struct flow_pass *pass = mem_zero(1, sizeof *pass);

	pass->flow = flow;
	pass->kept = kept;
	pass->states = mem_zero((size_t)kept, sizeof *pass->states);
	workspace_measure(&pass->workspace);
	layout(pass, rows);
	workspace_ready(&pass->workspace);
	layout(pass, rows);
	return pass;
}

struct flow_pass *
flow_pass_new(const struct flow *flow, size_t most_rows)
{
	return pass_new(flow, most_rows, flow->shape.steps);
}

void
flow_pass_free(struct flow_pass *pass)
{
	workspace_free(&pass->workspace);
	free(pass->states);
	free(pass);
}

/* Forward. ------------------------------------------------------------------------- */

static void
normalise(const struct flow *flow, int step, float *y, const float *x, size_t rows)
{
	const float *shift = flow_part(flow, step, FLOW_SHIFT);
	const float *logs = flow_part(flow, step, FLOW_LOG_SCALE);
	size_t width = width_of(flow);

	for (size_t i = 0; i < width; i++) {
		float scale = expf(logs[i]);
		for (size_t row = 0; row < rows; row++)
			y[row * width + i] = x[row * width + i] * scale + shift[i];
	}
}

/* The MLP: s and t of the coupling, from the first half of `mixed`. */
static void
network(const struct flow *flow, int step, struct step_state *state, size_t rows)
{
	size_t width = width_of(flow), hidden = (size_t)flow->shape.hidden;
	size_t rest = second_half(flow);

	nn_linear_activate(state->hidden1, hidden, state->mixed, width,
	    matrix(flow, step, FLOW_HIDDEN1), flow_part(flow, step, FLOW_HIDDEN1_BIAS),
	    NN_RELU, rows, first_half(flow), hidden);
	nn_linear_activate(state->hidden2, hidden, state->hidden1, hidden,
	    matrix(flow, step, FLOW_HIDDEN2), flow_part(flow, step, FLOW_HIDDEN2_BIAS),
	    NN_RELU, rows, hidden, hidden);
	nn_linear(state->coupling, 2 * rest, state->hidden2, hidden,
	    matrix(flow, step, FLOW_COUPLING), flow_part(flow, step, FLOW_COUPLING_BIAS),
	    rows, hidden, 2 * rest);
}

/* The log determinant of a step's ActNorm and linear map, the same for all rows. */
static double
constant_part(const struct flow *flow, int step)
{
	const float *scale = flow_part(flow, step, FLOW_LOG_SCALE);
	const float *diagonal = flow_part(flow, step, FLOW_LOG_DIAGONAL);
	double sum = 0;

	for (size_t i = 0; i < width_of(flow); i++)
		sum += (double)scale[i] + (double)diagonal[i];
	return sum;
}

static void
couple(const struct flow *flow, float *x, double *log_determinant,
    const struct step_state *state, size_t rows)
{
	size_t width = width_of(flow), first = first_half(flow), rest = second_half(flow);

	for (size_t row = 0; row < rows; row++) {
		const float *s = state->coupling + row * 2 * rest, *t = s + rest;
		const float *from = state->mixed + row * width;
		float *to = x + row * width;
		double sum = 0;
		memcpy(to, from, first * sizeof *to);
		for (size_t i = 0; i < rest; i++) {
			float small = expf(-s[i]);
			to[first + i] = (from[first + i] + t[i]) / (1 + small);
			sum -= (double)log1pf(small);
		}
		log_determinant[row] += sum;
	}
}

/* Maps x through a step, in place; adds to the log determinants. */
static void
step_forward(const struct flow *flow, int step, float *x, double *log_determinant,
    struct step_state *state, size_t rows)
{
	const int32_t *permutation = flow->permutations + (size_t)step * width_of(flow);
	double constant = constant_part(flow, step);
	size_t width = width_of(flow);

	normalise(flow, step, state->scaled, x, rows);
	nn_linear(state->upper, width, state->scaled, width,
	    matrix(flow, step, FLOW_UPPER), NULL, rows, width, width);
	nn_linear(x, width, state->upper, width, matrix(flow, step, FLOW_LOWER), NULL,
	    rows, width, width);
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < width; i++)
			state->mixed[row * width + (size_t)permutation[i]] =
			    x[row * width + i];
		log_determinant[row] += constant;
	}
	network(flow, step, state, rows);
	couple(flow, x, log_determinant, state, rows);
}

/* Computes the pass's z and log_determinant from x. */
static void
forward(struct flow_pass *pass, const float *x, size_t rows)
{
	const struct flow *flow = pass->flow;

	nn_copy(pass->z, x, rows * width_of(flow));
	memset(pass->log_determinant, 0, rows * sizeof *pass->log_determinant);
	for (int step = 0; step < flow->shape.steps; step++)
		step_forward(flow, step, pass->z, pass->log_determinant,
		    &pass->states[step % pass->kept], rows);
}

void
flow_forward(const struct flow *flow, float *z, double *log_determinant, const float *x,
    size_t rows)
{
	struct flow_pass *pass = pass_new(flow, rows < BLOCK ? rows : BLOCK, 1);
	size_t width = width_of(flow);

	for (size_t at = 0, count; at < rows; at += count) {
		count = rows - at < BLOCK ? rows - at : BLOCK;
		forward(pass, x + at * width, count);
		memcpy(z + at * width, pass->z, count * width * sizeof *z);
		if (log_determinant)
			memcpy(log_determinant + at, pass->log_determinant,
			    count * sizeof *log_determinant);
	}
	flow_pass_free(pass);
}

/* Inverse. ------------------------------------------------------------------------- */

/* Solves L U x = y, in place. */
static void
solve(const struct flow *flow, int step, double *x)
{
	const float *lower = flow_part(flow, step, FLOW_LOWER);
	const float *upper = flow_part(flow, step, FLOW_UPPER);
	size_t width = width_of(flow);

	for (size_t i = 0; i < width; i++)
		for (size_t j = 0; j < i; j++)
			x[i] -= (double)lower[i * width + j] * x[j];
	for (size_t i = width; i-- > 0;) {
		for (size_t j = i + 1; j < width; j++)
			x[i] -= (double)upper[i * width + j] * x[j];
		x[i] /= (double)upper[i * width + i];
	}
}

/* Inverts a step's linear map and ActNorm, in place. */
static void
unmix(const struct flow *flow, int step, float *x, double *room)
{
	const int32_t *permutation = flow->permutations + (size_t)step * width_of(flow);
	const float *shift = flow_part(flow, step, FLOW_SHIFT);
	const float *logs = flow_part(flow, step, FLOW_LOG_SCALE);

	for (size_t i = 0; i < width_of(flow); i++)
		room[i] = (double)x[permutation[i]];
	solve(flow, step, room);
	for (size_t i = 0; i < width_of(flow); i++)
		x[i] = (float)((room[i] - (double)shift[i]) * exp(-(double)logs[i]));
}

static void
step_inverse(
    const struct flow *flow, int step, struct step_state *state, float *x, size_t rows)
{
	size_t width = width_of(flow), first = first_half(flow), rest = second_half(flow);

	nn_copy(state->mixed, x, rows * width);
	network(flow, step, state, rows);
	for (size_t row = 0; row < rows; row++) {
		const float *s = state->coupling + row * 2 * rest, *t = s + rest;
		float *second = x + row * width + first;
		for (size_t i = 0; i < rest; i++)
			second[i] = second[i] * (1 + expf(-s[i])) - t[i];
	}
#pragma omp parallel
	{
		double *room = mem_new(width, sizeof *room);
#pragma omp for
		for (size_t row = 0; row < rows; row++)
			unmix(flow, step, x + row * width, room);
		free(room);
	}
}

void
flow_inverse(const struct flow *flow, float *x, const float *z, size_t rows)
{
	struct flow_pass *pass = pass_new(flow, rows < BLOCK ? rows : BLOCK, 1);
	size_t width = width_of(flow);

	for (size_t at = 0, count; at < rows; at += count) {
		count = rows - at < BLOCK ? rows - at : BLOCK;
		nn_copy(pass->z, z + at * width, count * width);
		for (int step = flow->shape.steps; step-- > 0;)
			step_inverse(flow, step, pass->states, pass->z, count);
		memcpy(x + at * width, pass->z, count * width * sizeof *x);
	}
	flow_pass_free(pass);
}

/* Backward. ------------------------------------------------------------------------ */

/* Replaces dz of the coupling's output by that of `mixed`.  weight: of a row's log determinant in the loss. */
static void
couple_back(struct flow_pass *pass, float *gradient, int step, float *dz, float weight,
    size_t rows)
{
	const struct flow *flow = pass->flow;
	const struct step_state *state = &pass->states[step];
	size_t width = width_of(flow), first = first_half(flow), rest = second_half(flow);
	size_t hidden = (size_t)flow->shape.hidden;
	float *dhidden = pass->dhidden;

	for (size_t row = 0; row < rows; row++) {
		const float *s = state->coupling + row * 2 * rest, *t = s + rest;
		const float *b = state->mixed + row * width + first;
		float *ds = pass->dcoupling + row * 2 * rest, *dt = ds + rest;
		float *db = dz + row * width + first;
		for (size_t i = 0; i < rest; i++) {
			float sigmoid = 1 / (1 + expf(-s[i]));
			dt[i] = db[i] * sigmoid;
			ds[i] = (dt[i] * (b[i] + t[i]) + weight) * (1 - sigmoid);
			db[i] = dt[i];
		}
	}
	nn_linear_back(dhidden, false, part_in(flow, gradient, step, FLOW_COUPLING),
	    part_in(flow, gradient, step, FLOW_COUPLING_BIAS), pass->dcoupling, 2 * rest,
	    state->hidden2, hidden, matrix(flow, step, FLOW_COUPLING), rows, hidden,
	    2 * rest);
	nn_activate_back(dhidden, dhidden, state->hidden2, NN_RELU, rows * hidden);
	/* reuse hidden2, which is no longer needed */
	nn_linear_back(state->hidden2, false, part_in(flow, gradient, step, FLOW_HIDDEN2),
	    part_in(flow, gradient, step, FLOW_HIDDEN2_BIAS), dhidden, hidden,
	    state->hidden1, hidden, matrix(flow, step, FLOW_HIDDEN2), rows, hidden,
	    hidden);
	nn_activate_back(
	    state->hidden2, state->hidden2, state->hidden1, NN_RELU, rows * hidden);
	nn_linear_back(pass->other, false, part_in(flow, gradient, step, FLOW_HIDDEN1),
	    part_in(flow, gradient, step, FLOW_HIDDEN1_BIAS), state->hidden2, hidden,
	    state->mixed, width, matrix(flow, step, FLOW_HIDDEN1), rows, first, hidden);
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < first; i++)
			dz[row * width + i] += pass->other[row * first + i];
}

/* Zeroes a gradient [width,width] except above, or below, the diagonal. */
static void
triangle(float *gradient, size_t width, bool upper)
{
	for (size_t i = 0; i < width; i++) {
		size_t from = upper ? 0 : i, to = upper ? i + 1 : width;
		memset(gradient + i * width + from, 0, (to - from) * sizeof *gradient);
	}
}

static void
linear_back(struct flow_pass *pass, float *gradient, int step, float *dz, float weight,
    size_t rows)
{
	const struct flow *flow = pass->flow;
	const struct step_state *state = &pass->states[step];
	const int32_t *permutation = flow->permutations + (size_t)step * width_of(flow);
	const float *upper = flow_part(flow, step, FLOW_UPPER);
	float *dupper = part_in(flow, gradient, step, FLOW_UPPER);
	float *dlower = part_in(flow, gradient, step, FLOW_LOWER);
	float *ddiagonal = part_in(flow, gradient, step, FLOW_LOG_DIAGONAL);
	size_t width = width_of(flow);

	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < width; i++)
			pass->other[row * width + i] =
			    dz[row * width + (size_t)permutation[i]];
	nn_linear_back(dz, false, dlower, NULL, pass->other, width, state->upper, width,
	    matrix(flow, step, FLOW_LOWER), rows, width, width);
	nn_linear_back(pass->other, false, dupper, NULL, dz, width, state->scaled, width,
	    matrix(flow, step, FLOW_UPPER), rows, width, width);
	for (size_t i = 0; i < width; i++)
		ddiagonal[i] +=
		    dupper[i * width + i] * upper[i * width + i] + weight * (float)rows;
	triangle(dupper, width, true);
	triangle(dlower, width, false);
}

/* Writes dz of ActNorm's input, from the gradient of its output in pass->other. */
static void
normalise_back(struct flow_pass *pass, float *gradient, int step, float *dz, float weight,
    size_t rows)
{
	const struct flow *flow = pass->flow;
	const float *scaled = pass->states[step].scaled, *dy = pass->other;
	const float *shift = flow_part(flow, step, FLOW_SHIFT);
	const float *logs = flow_part(flow, step, FLOW_LOG_SCALE);
	float *dshift = part_in(flow, gradient, step, FLOW_SHIFT);
	float *dlogs = part_in(flow, gradient, step, FLOW_LOG_SCALE);
	size_t width = width_of(flow);

	for (size_t i = 0; i < width; i++) {
		float scale = expf(logs[i]);
		dlogs[i] += weight * (float)rows;
		for (size_t row = 0, at = i; row < rows; row++, at += width) {
			dshift[i] += dy[at];
			dlogs[i] += dy[at] * (scaled[at] - shift[i]);
			dz[at] = dy[at] * scale;
		}
	}
}

double
flow_gradient(struct flow_pass *pass, float *gradient, const float *x, size_t rows)
{
	const struct flow *flow = pass->flow;
	size_t width = width_of(flow), values = rows * width;
	float weight = -1 / (float)values;
	double loss = log_two_pi / 2;

	forward(pass, x, rows);
	loss += nn_square_sum(pass->z, values) / 2 / (double)values;
	for (size_t row = 0; row < rows; row++)
		loss -= pass->log_determinant[row] / (double)values;
	nn_scale(pass->z, 1 / (float)values, values);
	nn_zero(gradient, flow_size(flow));
	for (int step = flow->shape.steps; step-- > 0;) {
		couple_back(pass, gradient, step, pass->z, weight, rows);
		linear_back(pass, gradient, step, pass->z, weight, rows);
		normalise_back(pass, gradient, step, pass->z, weight, rows);
	}
	return loss;
}
