#include "score/logistic_regression.h"

#include <cblas.h>
#include <float.h>
#include <lbfgs.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

const struct logistic_regression_options logistic_regression_optimum = {
	.tolerance = 1e-8, .most = 2000
};
const struct logistic_regression_options logistic_regression_reference = {
	.tolerance = 1e-4, .most = 100, .reference = true
};

/* The variables are weights [vectors, width], then intercepts [vectors]. */
struct problem {
	struct logistic_regression *model;
	const double *x; /* [n, width] */
	const int32_t *label;
	int n;
	const struct logistic_regression_options *options;
	double value; /* of the objective at the previous iteration */
	double *
	    scores; /* [n, vectors]: decision values, then the gradient of the loss with respect to them */
};

/* log(1 + exp(z)) without overflow */
static double
softplus(double z)
{
	return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
}

/* Loss of a row; its scores become the gradient with respect to them. */
static double
logistic(double *score, int32_t label)
{
	double z = *score, loss = softplus(z) - label * z;

	*score = 1 / (1 + exp(-z)) - label;
	return loss;
}

static double
softmax(double *score, int classes, int32_t label)
{
	double most = score[0], sum = 0;

	for (int i = 1; i < classes; i++)
		most = fmax(most, score[i]);
	double own = score[label] - most;
	for (int i = 0; i < classes; i++)
		sum += score[i] = exp(score[i] - most);
	for (int i = 0; i < classes; i++)
		score[i] /= sum;
	score[label] -= 1;
	return log(sum) - own;
}

static double
evaluate(void *context, const double *variable, double *gradient, const int size,
    const double step)
{
	struct problem *problem = context;
	int vectors = problem->model->vectors, width = problem->model->width,
	    n = problem->n;
	const double *intercept = variable + (int64_t)vectors * width;
	double *of_intercept = gradient + (int64_t)vectors * width;
	double loss = 0, square = 0;

	(void)step;
	(void)size;
	memset(of_intercept, 0, (size_t)vectors * sizeof *of_intercept);
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, vectors, width, 1,
	    problem->x, width, variable, width, 0, problem->scores, vectors);
	for (int i = 0; i < n; i++) {
		double *score = problem->scores + (int64_t)i * vectors;
		for (int j = 0; j < vectors; j++)
			score[j] += intercept[j];
		loss += vectors == 1 ? logistic(score, problem->label[i])
				     : softmax(score, vectors, problem->label[i]);
		for (int j = 0; j < vectors; j++)
			of_intercept[j] += score[j] / n;
	}
	cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, vectors, width, n, 1,
	    problem->scores, vectors, problem->x, width, 0, gradient, width);
	for (int64_t i = 0; i < (int64_t)vectors * width; i++) {
		square += variable[i] * variable[i];
		gradient[i] = (gradient[i] + variable[i]) / n;
	}
	return (loss + square / 2) / n;
}

static double
greatest(const double *x, int64_t n)
{
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

/* Called after each iteration; a value other than 0 stops L-BFGS. */
static int
watch(void *context, const double *variable, const double *gradient, const double value,
    const double variable_norm, const double gradient_norm, const double step, int size,
    int iteration, int evaluations)
{
	struct problem *problem = context;

	(void)variable;
	(void)variable_norm;
	(void)gradient_norm;
	(void)step;
	(void)evaluations;
	const struct logistic_regression_options *options = problem->options;
	double before = problem->value, scale = fmax(fmax(fabs(before), fabs(value)), 1);

	problem->value = value;
	problem->model->iterations = iteration;
	problem->model->gradient = greatest(gradient, size);
	return problem->model->gradient <= options->tolerance ||
	       (options->reference && before - value <= 64 * DBL_EPSILON * scale);
}

/* Starts at zero, and stays there if the gradient is within the tolerance. */
static void
minimise(struct problem *problem, double *variable, size_t size)
{
	const struct logistic_regression_options *options = problem->options;
	double *gradient = mem_new(size, sizeof *gradient);
	lbfgs_parameter_t parameter;

	lbfgs_parameter_init(&parameter);
	parameter.m = 10;
	parameter.epsilon = 0; /* `watch` stops; so does a line search without progress */
	parameter.max_iterations = options->most;
	parameter.min_step = DBL_MIN; /* the first step is 1 / |gradient| */
	if (options->reference) {
		parameter.ftol = 1e-3;
		parameter.gtol = 0.9;
		parameter.xtol = 0.1;
		parameter.max_linesearch = 50;
	}
	problem->value = evaluate(problem, variable, gradient, (int)size, 0);
	problem->model->gradient = greatest(gradient, (int64_t)size);
	/* without memory lbfgs returns at once and leaves the start in place */
	if (problem->model->gradient > options->tolerance &&
	    lbfgs((int)size, variable, NULL, evaluate, watch, problem, &parameter) ==
		LBFGSERR_OUTOFMEMORY)
		die("logistic regression: out of memory for %zu weights", size);
	free(gradient);
}

struct logistic_regression *
logistic_regression_fit(const float *x, const int32_t *label, int64_t n, int width,
    int classes, const struct logistic_regression_options *options)
{
	struct logistic_regression *model = mem_new(1, sizeof *model);
	int vectors = classes == 2 ? 1 : classes;
	size_t size =
	    mem_multiply((size_t)vectors, (size_t)width + 1, "logistic regression");
	double *copy = mem_new(
	    mem_multiply((size_t)n, (size_t)width, "logistic regression"), sizeof *copy);
	double *variable = size <= INT_MAX ? lbfgs_malloc((int)size) : NULL;
	struct problem problem = { .model = model,
		.x = copy,
		.label = label,
		.n = (int)n,
		.options = options,
		.scores = mem_new((size_t)n, (size_t)vectors * sizeof(double)) };

	if (!variable)
		die("logistic regression: out of memory for %d classes of width %d",
		    classes, width);
	*model = (struct logistic_regression){ .classes = classes,
		.width = width,
		.vectors = vectors,
		.weights = mem_new(size, sizeof *model->weights) };
	for (int64_t i = 0; i < n * width; i++)
		copy[i] = x[i];
	memset(variable, 0, size * sizeof *variable);
	minimise(&problem, variable, size);
	memcpy(model->weights, variable, size * sizeof *model->weights);
	model->intercepts = model->weights + (int64_t)vectors * width;
	lbfgs_free(variable);
	free(copy);
	free(problem.scores);
	return model;
}

bool
logistic_regression_stuck(const struct logistic_regression *model)
{
	return model->iterations == 0 &&
	       model->gradient > logistic_regression_reference.tolerance;
}

enum { BLOCK = 512 };

/* The probability of a class; product [vectors]: a row's products with the weights. */
static double
share(const struct logistic_regression *model, const double *product, int32_t class)
{
	double own = product[model->vectors == 1 ? 0 : class] +
		     model->intercepts[model->vectors == 1 ? 0 : class],
	       sum = 0;

	if (model->vectors == 1)
		return 1 / (1 + exp(class ? -own : own));
	for (int i = 0; i < model->vectors; i++)
		sum += exp(product[i] + model->intercepts[i] - own);
	return 1 / sum;
}

static void
predict(const struct logistic_regression *model, const float *x, int n,
    int32_t *predicted, double *probability, double *room)
{
	int vectors = model->vectors, width = model->width;
	double *scores = room + (int64_t)BLOCK * width;

	for (int64_t i = 0; i < (int64_t)n * width; i++)
		room[i] = x[i];
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, vectors, width, 1, room,
	    width, model->weights, width, 0, scores, vectors);
	for (int i = 0; i < n; i++) {
		const double *score = scores + (int64_t)i * vectors;
		int best = 0;
		for (int j = 1; j < vectors; j++)
			if (score[j] + model->intercepts[j] >
			    score[best] + model->intercepts[best])
				best = j;
		predicted[i] = vectors == 1 ? score[0] + model->intercepts[0] > 0 : best;
		if (probability)
			probability[i] = share(model, score, predicted[i]);
	}
}

void
logistic_regression_predict(const struct logistic_regression *model, const float *x,
    int64_t n, int32_t *predicted, double *probability)
{
	double *room =
	    mem_new(BLOCK, (size_t)(model->width + model->vectors) * sizeof *room);

	for (int64_t first = 0; first < n; first += BLOCK) {
		int some = n - first < BLOCK ? (int)(n - first) : BLOCK;
		predict(model, x + first * model->width, some, predicted + first,
		    probability ? probability + first : NULL, room);
	}
	free(room);
}

void
logistic_regression_free(struct logistic_regression *model)
{
	free(model->weights);
	free(model);
}
