/*
 * adapter_check MODEL ADAPTER EXPECTED [BOUND] - compare an adapter that learns with PEFT (tests/golden/adapter.py):
 * embeddings and the gradient of every A and B, within 1e-5 or the bound
 * adapter_check MODEL all-linear EXPECTED [DROPOUT] - random pairs on every linear layer: compare each gradient with the
 * central difference along a random direction; only the texts of EXPECTED are used (families.py)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/rng.h"
#include "golden_check.h"
#include "model/lora_settings.h"
#include "model/model.h"
#include "model/pooling.h"

struct work {
	struct model *model;
	struct batch batch;
	float *demb, *emb; /* [N, width], host memory */
	float *gradients;  /* of all parameters */
	size_t n;
};

/* sum(emb * demb) in double */
static double
loss_of(struct work *w)
{
	double loss = 0;

	nn_download(w->emb, model_forward(w->model, &w->batch), w->n * sizeof *w->emb);
	for (size_t i = 0; i < w->n; i++)
		loss += (double)w->emb[i] * (double)w->demb[i];
	return loss;
}

static void
back(struct work *w)
{
	size_t size = model_size(w->model);
	float *on = nn_alloc(w->n * sizeof *on);

	nn_upload(on, w->demb, w->n * sizeof *on);
	nn_zero(model_gradients(w->model), size);
	loss_of(w);
	model_backward(w->model, &w->batch, on, NULL);
	w->gradients = mem_new(size, sizeof *w->gradients);
	nn_download(w->gradients, model_gradients(w->model), size * sizeof *w->gradients);
	nn_free(on, w->n * sizeof *on);
}

static void
compare(struct work *w, const struct safetensors *file, const char *dir, double bound)
{
	struct adapter *adapter = adapter_open(dir);
	const struct safetensor *emb = safetensors_need(file, "emb");

	back(w);
	verdict("peft", "embeddings", distance(w->emb, emb->data, emb->count), 1e-5);
	for (int i = 0; i < 2 * adapter_count(adapter); i++) {
		const struct adapter_pair *pair = adapter_at(adapter, i / 2);
		const struct parameter *p = model_parameter(w->model, i);
		char *name = mem_format("grad.%s", i % 2 ? pair->b->name : pair->a->name);
		const struct safetensor *wanted = safetensors_need(file, name);
		if (wanted->count != p->count)
			die("%s: %zu values, not %zu", name, wanted->count, p->count);
		verdict("peft", name,
		    distance(w->gradients + p->offset, wanted->data, p->count), bound);
		free(name);
	}
	adapter_close(adapter);
}

/* (L(w + h u) - L(w - h u)) / 2h against g . u */
static double
difference(struct work *w, const struct parameter *p, const float *direction, double h)
{
	float *to = model_values(w->model) + p->offset;
	float *values = mem_new(p->count, sizeof *values), *moved;
	double slope = 0, length = 0, rise = 0;

	moved = mem_new(p->count, sizeof *moved);
	nn_download(values, to, p->count * sizeof *values);
	for (int side = -1; side <= 1; side += 2) {
		for (size_t i = 0; i < p->count; i++)
			moved[i] =
			    (float)((double)values[i] + side * h * (double)direction[i]);
		nn_upload(to, moved, p->count * sizeof *moved);
		rise += side * loss_of(w) / (2 * h);
	}
	nn_upload(to, values, p->count * sizeof *values);
	for (size_t i = 0; i < p->count; i++) {
		double g = (double)w->gradients[p->offset + i];
		slope += (double)direction[i] * g;
		length += g * g;
	}
	free(values);
	free(moved);
	return fabs(rise - slope) / fmax(sqrt(length), 0.25);
}

/* The better of a long and a short step counts: over a long one the loss is not linear, or a router chooses other
 * experts; a short one is lost in rounding. */
static void
differences(struct work *w)
{
	struct rng rng = rng_seed(3, 0);
	double worst = 0;

	size_t size = model_size(w->model);
	float *values = mem_new(size, sizeof *values);
	for (size_t i = 0; i < size; i++)
		values[i] = (float)(0.2 * rng_normal(&rng));
	nn_upload(model_values(w->model), values, size * sizeof *values);
	free(values);
	back(w);
	for (int i = 0; i < model_parameters(w->model); i++) {
		const struct parameter *p = model_parameter(w->model, i);
		float *direction = mem_new(p->count, sizeof *direction);
		for (size_t j = 0; j < p->count; j++)
			direction[j] = (float)rng_normal(&rng);
		double error = difference(w, p, direction, 1e-3);
		if (!(error <= 5e-3))
			error = difference(w, p, direction, 2e-4);
		if (!(error <= 5e-3))
			verdict("differences", p->name, error, 5e-3);
		worst = error > worst || isnan(error) ? error : worst;
		free(direction);
	}
	verdict("differences", "all pairs", worst, 5e-3);
	printf("%d pairs\n", model_parameters(w->model) / 2);
}

int
main(int argc, char **argv)
{
	static const struct cli_option options[] = { { 0 } };
	static const struct cli cli = { "adapter_check", "hold an adapter to values",
		"MODEL HOW EXPECTED [BOUND|DROPOUT]", options, NULL, NULL, NULL, NULL };
	static const char *const all[] = { "all-linear" };

	nn_start(1, argv);
	cli_start(&cli, argc, argv);
	while (cli_next(&cli, argc, argv, NULL) != -1)
		;
	if (argc - optind < 3)
		die_usage("a model, an adapter and a file of values are needed");
	bool drawn = !strcmp(argv[optind + 1], *all);
	double last = argc - optind > 3 ? strtod(argv[optind + 3], NULL) : 0;
	double dropout = drawn ? last : 0;
	struct safetensors *file = safetensors_open(argv[optind + 2]);
	struct model *model = model_open(argv[optind], MODEL_ENCODE, 0);
	struct lora_settings settings = { .from = drawn ? NULL : argv[optind + 1],
		.rank = 3,
		.alpha = 5,
		.dropout = dropout,
		.targets = all,
		.target_count = 1 };
	struct work w = { .model = model };
	w.batch = (struct batch){ .ids = aligned(safetensors_need(file, "ids")),
		.starts = aligned(safetensors_need(file, "starts")),
		.sequences = (int64_t)safetensors_need(file, "starts")->count - 1,
		.expert = -1 };
	w.batch.tokens = w.batch.starts[w.batch.sequences];
	w.batch.adapters = mem_zero((size_t)w.batch.sequences, sizeof *w.batch.adapters);
	w.batch.draws = mem_zero((size_t)w.batch.sequences, sizeof *w.batch.draws);
	for (int64_t i = 0; i < w.batch.sequences && dropout > 0; i++)
		w.batch.draws[i] = (uint64_t)(i + 1) << 32;
	w.demb = aligned(safetensors_need(file, "demb"));
	if (!drawn) {
		pooling_set(model_head(model), "mean");
		head_normalize(model_head(model), true);
	}
	w.n = (size_t)w.batch.sequences * (size_t)model_width(model);
	w.emb = mem_new(w.n, sizeof *w.emb);
	model_adapt(model, &settings, 0);
	if (drawn)
		differences(&w);
	else
		compare(&w, file, argv[optind + 1], last > 0 ? last : 1e-5);
	model_close(model);
	safetensors_close(file);
	batch_free(&w.batch);
	free((void *)w.batch.ids);
	free(w.demb);
	free(w.emb);
	free(w.gradients);
	return failed;
}
