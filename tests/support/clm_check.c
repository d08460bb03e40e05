/*
 * clm_check DIR STREAM EXPECTED - compare causal language modelling with transformers (tests/golden/clm.py)
 *
 * Compares both losses on the texts of STREAM and the gradients of their weighted sum, for the whole batch and for chunks of
 * few tokens; and every gradient with the central difference along a random direction.
 * Prints one line per comparison with the greatest error; exit 1 when one is too great.
 */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "golden_check.h"
#include "train/objective.h"

static const double weight = 0.3; /* weight of the balance loss */

/* Computes the loss of the whole stream as one batch, and its gradient in the model's. */
static struct batch_report
learn(struct model *model, const char *stream, int64_t tokens)
{
	struct objective_options options = { .type = objective_called("clm"),
		.contrast.epochs = 1,
		.balance = model_spec(model)->mixture.count ? weight : 0,
		.tokens = tokens,
		.batch_tokens = 1 << 20 };
	struct objective *objective = objective_open(stream, model, &options);
	struct batch_report report;

	nn_zero(model_gradients(model), model_size(model));
	if (!objective->type->learn(objective, 0, &report, NULL))
		die("%s: has no batch", stream);
	objective_close(objective);
	return report;
}

static void
compare(struct model *model, const char *stream, const struct safetensors *file,
    const char *what, int64_t tokens)
{
	struct batch_report report = learn(model, stream, tokens);
	double worst = 0;

	verdict(what, "loss", fabs(report.loss / number(file, "loss") - 1), 1e-6);
	verdict(what, "balance", fabs(report.balance - number(file, "balance")), 1e-6);
	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		char *name = mem_format("grad.%s", p->name);
		float *got = mem_new(p->count, sizeof *got),
		      *wanted = aligned(safetensors_need(file, name));
		nn_download(
		    got, model_gradients(model) + p->offset, p->count * sizeof *got);
		double error = distance(got, wanted, p->count);
		if (!(error <= 1e-4))
			verdict(what, p->name, error, 1e-4);
		worst = error > worst || isnan(error) ? error : worst;
		free(got);
		free(wanted);
		free(name);
	}
	verdict(what, "gradients", worst, 1e-4);
}

/* The weighted loss with a parameter moved by h along a direction. */
static double
moved(struct model *model, const char *stream, const struct parameter *p,
    const float *values, const float *direction, double h)
{
	float *at = mem_new(p->count, sizeof *at);

	for (size_t i = 0; i < p->count; i++)
		at[i] = (float)((double)values[i] + h * (double)direction[i]);
	nn_upload(model_values(model) + p->offset, at, p->count * sizeof *at);
	struct batch_report report = learn(model, stream, 1 << 20);
	free(at);
	return report.loss + weight * report.balance;
}

/* The error of the central difference along a random direction, relative to the gradient's norm. */
static double
difference(struct model *model, const char *stream, const struct parameter *p, double h)
{
	struct rng rng = rng_seed(5, p->offset);
	float *direction = mem_new(p->count, sizeof *direction);
	float *values = mem_new(p->count, sizeof *values);
	float *gradient = mem_new(p->count, sizeof *gradient);
	double slope = 0, length = 0;

	learn(model, stream, 1 << 20);
	nn_download(
	    gradient, model_gradients(model) + p->offset, p->count * sizeof *gradient);
	nn_download(values, model_values(model) + p->offset, p->count * sizeof *values);
	for (size_t i = 0; i < p->count; i++) {
		direction[i] = (float)rng_normal(&rng);
		slope += (double)direction[i] * (double)gradient[i];
		length += (double)gradient[i] * (double)gradient[i];
	}
	double up = moved(model, stream, p, values, direction, h);
	double down = moved(model, stream, p, values, direction, -h);
	nn_upload(model_values(model) + p->offset, values, p->count * sizeof *values);
	free(direction);
	free(values);
	free(gradient);
	return fabs((up - down) / (2 * h) - slope) / fmax(sqrt(length), 0.05);
}

/* The better of a long and a short step counts (adapter_check.c). */
static void
check_differences(struct model *model, const char *stream)
{
	double worst = 0;

	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		double error = difference(model, stream, p, 1e-3);
		if (!(error <= 5e-3))
			error = difference(model, stream, p, 2e-4);
		if (!(error <= 5e-3))
			verdict("differences", p->name, error, 5e-3);
		worst = error > worst || isnan(error) ? error : worst;
	}
	verdict("differences", "all parameters", worst, 5e-3);
}

int
main(int argc, char **argv)
{
	program_name = "clm_check";
	verbosity = -1;
	if (argc != 4)
		die_usage("clm_check DIR STREAM EXPECTED");
	nn_start(1, argv);
	struct model *model = model_open(argv[1], MODEL_TRAIN, 0);
	struct safetensors *file = safetensors_open(argv[3]);

	compare(model, argv[2], file, "in one piece", 1 << 20);
	compare(model, argv[2], file, "in pieces", 9);
	check_differences(model, argv[2]);
	model_close(model);
	safetensors_close(file);
	return failed;
}
