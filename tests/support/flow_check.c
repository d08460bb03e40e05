/*
 * flow_check - compare flow.h with plain loops in double precision and with differences
 *
 * For several widths: z and the log determinant equal the plain loops', the log determinant equals that of their numerical
 * Jacobian, the inverse gives back its input, and the gradients equal differences of the plain loss.  Prints the greatest
 * errors; exit status 1 when one is too large.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "papers/reze/flow.h"
#include "nn/nn.h"

enum { ROWS = 7, PROBES = 60 };

/* fmax would drop a NaN. */
static double
larger(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

/* The parameters in double, one block, so that each can be changed for a difference. */
static double *plain_values;

static const double *
part(const struct flow *flow, int step, enum flow_part which)
{
	return plain_values + (flow_part(flow, step, which) - flow->values);
}

/* y = max(W x + b, 0), or without the maximum */
static void
layer(double *y, const double *x, const double *weight, const double *bias, int in,
    int out, bool relu)
{
	for (int i = 0; i < out; i++) {
		y[i] = bias[i];
		for (int j = 0; j < in; j++)
			y[i] += weight[i * in + j] * x[j];
		y[i] = relu && y[i] < 0 ? 0 : y[i];
	}
}

/* Takes one vector through a step, in place; returns the log determinant. */
static double
plain_step(const struct flow *flow, int step, double *x)
{
	enum { MOST = 64 };
	int width = flow->shape.width, hidden = flow->shape.hidden;
	int first = width / 2, rest = width - first;
	double a[MOST], b[MOST], one[MOST], two[MOST], st[2 * MOST], sum = 0;
	const double *upper = part(flow, step, FLOW_UPPER);
	const double *lower = part(flow, step, FLOW_LOWER);
	const double *logs = part(flow, step, FLOW_LOG_DIAGONAL);
	const double *scale = part(flow, step, FLOW_LOG_SCALE);

	for (int i = 0; i < width; i++) {
		a[i] = x[i] * exp(scale[i]) + part(flow, step, FLOW_SHIFT)[i];
		sum += scale[i] + logs[i];
	}
	for (int i = 0; i < width; i++) {
		b[i] = copysign(exp(logs[i]), upper[i * width + i]) * a[i];
		for (int j = i + 1; j < width; j++)
			b[i] += upper[i * width + j] * a[j];
	}
	for (int i = 0; i < width; i++) {
		double mixed = b[i];
		for (int j = 0; j < i; j++)
			mixed += lower[i * width + j] * b[j];
		x[flow->permutations[step * width + i]] = mixed;
	}
	layer(one, x, part(flow, step, FLOW_HIDDEN1), part(flow, step, FLOW_HIDDEN1_BIAS),
	    first, hidden, true);
	layer(two, one, part(flow, step, FLOW_HIDDEN2),
	    part(flow, step, FLOW_HIDDEN2_BIAS), hidden, hidden, true);
	layer(st, two, part(flow, step, FLOW_COUPLING),
	    part(flow, step, FLOW_COUPLING_BIAS), hidden, 2 * rest, false);
	for (int i = 0; i < rest; i++) {
		double gate = 1 / (1 + exp(-st[i]));
		x[first + i] = (x[first + i] + st[rest + i]) * gate;
		sum += log(gate);
	}
	return sum;
}

static double
plain(const struct flow *flow, double *z, const double *x)
{
	double sum = 0;

	memcpy(z, x, (size_t)flow->shape.width * sizeof *z);
	for (int step = 0; step < flow->shape.steps; step++)
		sum += plain_step(flow, step, z);
	return sum;
}

static double
plain_loss(const struct flow *flow, const double *x, double *z)
{
	int width = flow->shape.width;
	double loss = 0;

	for (int row = 0; row < ROWS; row++) {
		loss -= plain(flow, z, x + row * width);
		for (int i = 0; i < width; i++)
			loss += (z[i] * z[i] + log(2 * 3.141592653589793)) / 2;
	}
	return loss / (ROWS * width);
}

/* log |det| of a [width,width], which is overwritten. */
static double
log_determinant(double *a, int width)
{
	double sum = 0;

	for (int i = 0; i < width; i++) {
		int best = i;
		for (int row = i + 1; row < width; row++)
			if (fabs(a[row * width + i]) > fabs(a[best * width + i]))
				best = row;
		for (int j = 0; j < width; j++) {
			double value = a[i * width + j];
			a[i * width + j] = a[best * width + j];
			a[best * width + j] = value;
		}
		sum += log(fabs(a[i * width + i]));
		for (int row = i + 1; row < width; row++) {
			double factor = a[row * width + i] / a[i * width + i];
			for (int j = i; j < width; j++)
				a[row * width + j] -= factor * a[i * width + j];
		}
	}
	return sum;
}

static double
numerical(const struct flow *flow, double *x, double *z)
{
	const double h = 1e-5;
	int width = flow->shape.width;
	double *jacobian = mem_zero((size_t)(width * width), sizeof *jacobian);

	for (int j = 0; j < width; j++)
		for (int side = -1; side <= 1; side += 2) {
			double kept = x[j];
			x[j] += side * h;
			plain(flow, z, x);
			x[j] = kept;
			for (int i = 0; i < width; i++)
				jacobian[i * width + j] += side * z[i] / (2 * h);
		}
	double found = log_determinant(jacobian, width);
	free(jacobian);
	return found;
}

struct errors {
	double forward, determinant, jacobian, inverse, loss, gradient;
};

static void
check_maps(const struct flow *flow, const float *x, double *wide, struct errors *errors)
{
	size_t width = (size_t)flow->shape.width;
	float *z = nn_alloc(ROWS * width * sizeof *z),
	      *back = nn_alloc(ROWS * width * sizeof *z);
	double *expected = mem_new(width, sizeof *expected), determinants[ROWS];

	flow_forward(flow, z, determinants, x, ROWS);
	flow_inverse(flow, back, z, ROWS);
	for (size_t row = 0; row < ROWS; row++) {
		double own = plain(flow, expected, wide + row * width);
		errors->determinant =
		    larger(errors->determinant, fabs(own - determinants[row]));
		for (size_t i = 0; i < width; i++) {
			size_t at = row * width + i;
			errors->forward =
			    larger(errors->forward, fabs(expected[i] - (double)z[at]));
			errors->inverse =
			    larger(errors->inverse, fabs((double)(back[at] - x[at])));
		}
		own = numerical(flow, wide + row * width, expected);
		errors->jacobian =
		    larger(errors->jacobian, fabs(own - determinants[row]));
	}
	free(expected);
	nn_free(back, ROWS * width * sizeof *z);
	nn_free(z, ROWS * width * sizeof *z);
}

/* Whether an element of the block is a parameter; the zeros and ones of the triangular matrices are not. */
static bool
is_parameter(const struct flow *flow, size_t at)
{
	size_t width = (size_t)flow->shape.width, in = at % flow->offsets[FLOW_PARTS];
	size_t upper = in - flow->offsets[FLOW_UPPER],
	       lower = in - flow->offsets[FLOW_LOWER];

	if (upper < width * width)
		return upper / width < upper % width;
	return lower >= width * width || lower / width > lower % width;
}

static void
check_gradients(struct flow *flow, const float *x, const double *wide, struct rng *rng,
    struct errors *errors)
{
	const double h = 1e-6;
	size_t size = flow_size(flow), width = (size_t)flow->shape.width;
	float *gradient = nn_alloc(size * sizeof *gradient);
	double *z = mem_new(width, sizeof *z);
	struct flow_pass *pass = flow_pass_new(flow, ROWS + 3);
	double greatest = 0;

	errors->loss = larger(errors->loss,
	    fabs(flow_gradient(pass, gradient, x, ROWS) - plain_loss(flow, wide, z)));
	for (size_t i = 0; i < size; i++) {
		greatest = fmax(greatest, fabs((double)gradient[i]));
		if (!is_parameter(flow, i) && gradient[i] != 0)
			errors->gradient = INFINITY;
	}
	for (int step = 0; step < flow->shape.steps; step++)
		for (int which = 0; which < FLOW_PARTS; which++)
			for (int probe = 0; probe < PROBES; probe++) {
				size_t count =
				    flow->offsets[which + 1] - flow->offsets[which];
				size_t at = (size_t)step * flow->offsets[FLOW_PARTS] +
					    flow->offsets[which] + rng_below(rng, count);
				double kept = plain_values[at];
				if (!is_parameter(flow, at))
					continue;
				plain_values[at] = kept + h;
				double slope = plain_loss(flow, wide, z);
				plain_values[at] = kept - h;
				slope = (slope - plain_loss(flow, wide, z)) / (2 * h);
				plain_values[at] = kept;
				errors->gradient = larger(errors->gradient,
				    fabs(slope - (double)gradient[at]) / greatest);
			}
	flow_pass_free(pass);
	free(z);
	nn_free(gradient, size * sizeof *gradient);
}

static void
check(const struct flow_shape *shape, uint64_t seed, struct errors *errors)
{
	struct rng rng = rng_seed(seed, 1);
	size_t values = ROWS * (size_t)shape->width;
	struct flow *flow = flow_new(shape);
	float *x = nn_alloc(values * sizeof *x);
	double *wide = mem_new(values, sizeof *wide);

	for (size_t i = 0; i < values; i++)
		wide[i] = (double)(x[i] = (float)(0.3 + 0.1 * rng_normal(&rng)));
	flow_start(flow, x, ROWS, seed);
	plain_values = mem_new(flow_size(flow), sizeof *plain_values);
	for (size_t i = 0; i < flow_size(flow); i++)
		if (is_parameter(flow, i))
			flow->values[i] +=
			    (float)(0.2 / sqrt(shape->width) * rng_normal(&rng));
	flow_refresh(flow);
	for (size_t i = 0; i < flow_size(flow); i++)
		plain_values[i] = (double)flow->values[i];
	check_maps(flow, x, wide, errors);
	check_gradients(flow, x, wide, &rng, errors);
	free(plain_values);
	free(wide);
	nn_free(x, values * sizeof *x);
	flow_free(flow);
}

int
main(void)
{
	static const struct flow_shape shapes[] = { { 2, 1, 3 }, { 5, 2, 8 },
		{ 8, 3, 16 }, { 33, 6, 20 } };
	struct errors errors = { 0 };

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		check(&shapes[i], i, &errors);
	printf(
	    "z %.1e, log determinant %.1e, numerical Jacobian %.1e, inverse %.1e, loss %.1e, gradient %.1e\n",
	    errors.forward, errors.determinant, errors.jacobian, errors.inverse,
	    errors.loss, errors.gradient);
	return !(errors.forward < 1e-4 && errors.determinant < 1e-4 &&
		 errors.jacobian < 1e-4 && errors.inverse < 1e-5 && errors.loss < 1e-5 &&
		 errors.gradient < 1e-4);
}
