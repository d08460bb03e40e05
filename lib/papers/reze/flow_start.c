/* Initialises a flow: random rotations, ActNorm from vectors. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "papers/reze/flow.h"

enum { ROWS_MOST = 1024 }; /* rows that ActNorm is fitted to */

static const double narrow =
    1e-5; /* a deviation below this share of the greatest is rounding */
static const double weight_deviation = 0.05; /* of the MLP's layers, as in Glow */
static const float open_gate = 2;	     /* sigmoid(2) = 0.88: near the identity */

static double
dot(const double *a, const double *b, size_t width)
{
	double sum = 0;

	for (size_t i = 0; i < width; i++)
		sum += a[i] * b[i];
	return sum;
}

static void
subtract(double *from, double factor, const double *row, size_t width)
{
	for (size_t i = 0; i < width; i++)
		from[i] -= factor * row[i];
}

/* Random orthonormal rows [width,width], by Gram-Schmidt. */
static void
rotate(double *rows, size_t width, struct rng *rng)
{
	for (size_t i = 0; i < width * width; i++)
		rows[i] = rng_normal(rng);
	for (size_t i = 0; i < width; i++) {
		double *own = rows + i * width, length = sqrt(dot(own, own, width));
		for (size_t j = 0; j < width; j++)
			own[j] /= length;
#pragma omp parallel for
		for (size_t row = i + 1; row < width; row++) {
			double *other = rows + row * width;
			subtract(other, dot(own, other, width), own, width);
		}
	}
}

static void
swap_rows(double *rows, int32_t *order, size_t one, size_t other, size_t width)
{
	int32_t number = order[one];

	order[one] = order[other];
	order[other] = number;
	for (size_t i = 0; one != other && i < width; i++) {
		double value = rows[one * width + i];
		rows[one * width + i] = rows[other * width + i];
		rows[other * width + i] = value;
	}
}

/* LU decomposition with pivots, in place: row i of L U is row order[i]. */
static void
decompose(double *rows, int32_t *order, size_t width)
{
	for (size_t i = 0; i < width; i++)
		order[i] = (int32_t)i;
	for (size_t i = 0; i < width; i++) {
		size_t greatest = i;
		for (size_t row = i + 1; row < width; row++)
			if (fabs(rows[row * width + i]) >
			    fabs(rows[greatest * width + i]))
				greatest = row;
		swap_rows(rows, order, i, greatest, width);
		const double *pivot = rows + i * width;
#pragma omp parallel for
		for (size_t row = i + 1; row < width; row++) {
			double *other = rows + row * width;
			other[i] /= pivot[i];
			subtract(other + i + 1, other[i], pivot + i + 1, width - i - 1);
		}
	}
}

static void
start_linear(struct flow *flow, int step, struct rng *rng)
{
	size_t width = (size_t)flow->shape.width;
	float *upper = flow_part(flow, step, FLOW_UPPER);
	float *lower = flow_part(flow, step, FLOW_LOWER);
	float *logs = flow_part(flow, step, FLOW_LOG_DIAGONAL);
	double *rows = mem_new(mem_multiply(width, width, "a flow"), sizeof *rows);

	rotate(rows, width, rng);
	decompose(rows, flow->permutations + (size_t)step * width, width);
	for (size_t i = 0; i < width; i++) {
		for (size_t j = 0; j < width; j++) {
			float value = (float)rows[i * width + j];
			upper[i * width + j] = j < i ? 0 : value;
			lower[i * width + j] = j < i ? value : j == i ? 1 : 0;
		}
		logs[i] = logf(fabsf(upper[i * width + i]));
	}
	free(rows);
}

static void
start_network(struct flow *flow, int step, struct rng *rng)
{
	float *weights = flow_part(flow, step, FLOW_HIDDEN1);
	const float *end = flow_part(flow, step, FLOW_HIDDEN1_BIAS);
	size_t rest = flow->shape.width - flow->shape.width / 2;

	while (weights < end)
		*weights++ = (float)(weight_deviation * rng_normal(rng));
	weights = flow_part(flow, step, FLOW_HIDDEN2);
	end = flow_part(flow, step, FLOW_HIDDEN2_BIAS);
	while (weights < end)
		*weights++ = (float)(weight_deviation * rng_normal(rng));
	for (size_t i = 0; i < rest; i++)
		flow_part(flow, step, FLOW_COUPLING_BIAS)[i] = open_gate;
}

/* Mean and deviation (n - 1) of a column. */
static void
moments(const float *x, size_t rows, size_t width, size_t column, double *mean,
    double *deviation)
{
	double sum = 0, squares = 0;

	for (size_t row = 0; row < rows; row++)
		sum += (double)x[row * width + column];
	*mean = sum / (double)rows;
	for (size_t row = 0; row < rows; row++) {
		double difference = (double)x[row * width + column] - *mean;
		squares += difference * difference;
	}
	*deviation = sqrt(squares / (double)(rows - 1));
}

/* Initialises ActNorm of a step from its input; returns the number of constant components. */
static int
start_scale(struct flow *flow, int step, const float *x, size_t rows)
{
	size_t width = (size_t)flow->shape.width;
	float *shift = flow_part(flow, step, FLOW_SHIFT);
	float *logs = flow_part(flow, step, FLOW_LOG_SCALE);
	double *means = mem_new(width, sizeof *means), greatest = 0;
	double *deviations = mem_new(width, sizeof *deviations);
	int constant = 0;

	for (size_t i = 0; i < width; i++) {
		moments(x, rows, width, i, &means[i], &deviations[i]);
		greatest = fmax(greatest, deviations[i]);
	}
	for (size_t i = 0; i < width; i++) {
		bool varies = deviations[i] > narrow * greatest;
		double scale = varies ? deviations[i] : greatest > 0 ? greatest : 1;
		constant += !varies;
		logs[i] = (float)-log(scale);
		shift[i] = (float)(-means[i] / scale);
	}
	free(means);
	free(deviations);
	return constant;
}

int
flow_start(struct flow *flow, const float *x, size_t rows, uint64_t seed)
{
	struct rng rng = rng_seed(seed, 0);
	struct flow begun = *flow;
	int constant = 0;

	rows = rows < ROWS_MOST ? rows : ROWS_MOST;
	float *z = mem_new(rows * (size_t)flow->shape.width, sizeof *z);
	for (int step = 0; step < flow->shape.steps; step++) {
		start_linear(flow, step, &rng);
		start_network(flow, step, &rng);
		begun.shape.steps = step;
		flow_forward(&begun, z, NULL, x, rows);
		int fixed = start_scale(flow, step, z, rows);
		constant = step ? constant : fixed;
	}
	free(z);
	return constant;
}
