/*
 * dropout_check DIR EXPECTED VALUES NAME [BOUND] - compare a tiny model with dropout with transformers (tests/golden/dropout.py),
 * and its gradients with central differences
 *
 * DIR and EXPECTED are of tests/golden/families; VALUES has the embeddings in training as NAME; "none": transformers lacks the
 * family.  BOUND is the bound of the differences, by default 5e-3: they are less exact at the kinks of ReLU.  Also checks that
 * both forward passes give the same bits, that a text gives the same bits alone and in a batch, and that a rate of 0 and a
 * batch without draws give the bits of a model without dropout.
 * Prints a line for each comparison; exit 1 when one is too great.
 */
#include "base/rng.h"
#include "golden_check.h"
#include "model/dropout.h"
#include "model/model.h"

static const double rate = 0.25;
enum { SEED = 7 };

static struct batch
batch_of(const struct safetensors *file)
{
	const struct safetensor *starts = safetensors_need(file, "starts");
	size_t count = starts->count - 1;
	struct batch batch = { .sequences = (int64_t)count,
		.ids = aligned(safetensors_need(file, "ids")),
		.starts = aligned(starts),
		.draws = mem_new(count, sizeof(uint64_t)),
		.expert = -1 };

	batch.tokens = batch.starts[count];
	for (size_t i = 0; i < count; i++)
		batch.draws[i] = (uint64_t)(i + 1) << 32;
	return batch;
}

/* The embeddings by the forward pass that keeps its activations, or by the one that does not. */
static float *
embed(struct model *model, const struct batch *batch, bool keep)
{
	size_t n = (size_t)batch->sequences * (size_t)model_width(model);
	float *emb = mem_new(n, sizeof *emb);

	if (keep)
		nn_download(emb, model_forward(model, batch), n * sizeof *emb);
	else
		model_encode(model, batch, emb);
	return emb;
}

static double
loss_of(struct model *model, const struct batch *batch, const float *demb)
{
	size_t n = (size_t)batch->sequences * (size_t)model_width(model);
	float *emb = embed(model, batch, true);
	double loss = 0;

	for (size_t i = 0; i < n; i++)
		loss += (double)emb[i] * (double)demb[i];
	free(emb);
	return loss;
}

/* The loss with a parameter moved along a direction. */
static double
moved(struct model *model, const struct batch *batch, const float *demb,
    const struct parameter *p, const float *direction, double by)
{
	float *at = model_values(model) + p->offset;
	float *own = mem_new(p->count, sizeof *own), *to = mem_new(p->count, sizeof *to);

	nn_download(own, at, p->count * sizeof *own);
	for (size_t i = 0; i < p->count; i++)
		to[i] = (float)((double)own[i] + by * (double)direction[i]);
	nn_upload(at, to, p->count * sizeof *to);
	double loss = loss_of(model, batch, demb);
	nn_upload(at, own, p->count * sizeof *own);
	free(own);
	free(to);
	return loss;
}

static double
difference(struct model *model, const struct batch *batch, const float *demb,
    const struct parameter *p, const float *gradient, const float *direction, double h)
{
	double slope = 0, length = 0;

	for (size_t j = 0; j < p->count; j++) {
		slope += (double)direction[j] * (double)gradient[j];
		length += (double)gradient[j] * (double)gradient[j];
	}
	double up = moved(model, batch, demb, p, direction, h);
	double down = moved(model, batch, demb, p, direction, -h);
	return fabs((up - down) / (2 * h) - slope) / fmax(sqrt(length), 0.25);
}

/* The better of a long and a short step counts (model_check.c). */
static void
check_differences(struct model *model, const struct batch *batch, const float *demb,
    double most, const struct safetensor *tokens)
{
	struct rng rng = rng_seed(3, 0);
	size_t size = model_size(model), n = (size_t)batch->sequences;
	size_t bytes = n * (size_t)model_width(model) * sizeof *demb;
	float *all = mem_new(size, sizeof *all), *on = nn_alloc(bytes);
	double worst = 0;

	nn_upload(on, demb, bytes);
	nn_zero(model_gradients(model), size);
	model_forward(model, batch);
	model_backward(model, batch, on, NULL);
	nn_download(all, model_gradients(model), size * sizeof *all);
	if (tokens) {
		float *wanted = aligned(tokens);
		verdict("gradient of", model_parameter(model, 0)->name,
		    distance(
			all + model_parameter(model, 0)->offset, wanted, tokens->count),
		    1e-4);
		free(wanted);
	}
	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		const float *gradient = all + p->offset;
		float *direction = mem_new(p->count, sizeof *direction);
		for (size_t j = 0; j < p->count; j++)
			direction[j] = (float)rng_normal(&rng);
		double error =
		    difference(model, batch, demb, p, gradient, direction, 1e-3);
		if (!(error <= most))
			error =
			    difference(model, batch, demb, p, gradient, direction, 2e-4);
		if (!(error <= most))
			verdict("differences", p->name, error, most);
		worst = error > worst || isnan(error) ? error : worst;
		free(direction);
	}
	verdict("differences", "all parameters", worst, most);
	nn_free(on, bytes);
	free(all);
}

/* Text i alone gives the same bits as in the batch. */
static void
check_alone(struct model *model, const struct batch *batch, const float *emb)
{
	size_t width = (size_t)model_width(model);
	double worst = 0;

	for (int64_t i = 0; i < batch->sequences; i++) {
		int32_t starts[] = { 0, batch->starts[i + 1] - batch->starts[i] };
		struct batch one = { .sequences = 1,
			.starts = starts,
			.tokens = starts[1],
			.ids = batch->ids + batch->starts[i],
			.draws = batch->draws + i,
			.expert = -1 };
		float *own = embed(model, &one, true);
		worst = fmax(worst, distance(own, emb + (size_t)i * width, width));
		free(own);
	}
	verdict("alone and together", "embeddings", worst, 0);
}

/* A batch without draws and a rate of 0 give the bits of a model without dropout. */
static void
check_none(const char *dir, struct model *model, const struct batch *batch)
{
	size_t n = (size_t)batch->sequences * (size_t)model_width(model);
	struct model *plain = model_open(dir, MODEL_TRAIN, 0);
	struct batch undrawn = *batch;

	undrawn.draws = NULL;
	float *wanted = embed(plain, &undrawn, true);
	float *without = embed(model, &undrawn, true);
	verdict("without draws", "embeddings", distance(without, wanted, n), 0);
	dropout_begin(plain, 0, SEED);
	float *zero = embed(plain, batch, true);
	verdict("rate 0", "embeddings", distance(zero, wanted, n), 0);
	model_close(plain);
	free(wanted);
	free(without);
	free(zero);
}

int
main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	nn_start(1, argv);
	struct safetensors *file = safetensors_open(argv[2]),
			   *values = safetensors_open(argv[3]);
	struct model *model = model_open(argv[1], MODEL_TRAIN, 0);
	struct batch batch = batch_of(file);
	float *demb = aligned(safetensors_need(file, "demb"));
	size_t n = (size_t)batch.sequences * (size_t)model_width(model);

	dropout_begin(model, rate, SEED);
	float *emb = embed(model, &batch, true), *again = embed(model, &batch, false);
	const struct safetensor *tokens = NULL;
	if (strcmp(argv[4], "none")) {
		float *wanted = aligned(safetensors_need(values, argv[4]));
		char *name = mem_format("%s.tokens", argv[4]);
		tokens = safetensors_need(values, name);
		verdict("dropout", argv[4], distance(emb, wanted, n), 1e-5);
		free(name);
		free(wanted);
	}
	verdict("both passes", "embeddings", distance(again, emb, n), 0);
	check_alone(model, &batch, emb);
	check_differences(
	    model, &batch, demb, argc > 5 ? strtod(argv[5], NULL) : 5e-3, tokens);
	check_none(argv[1], model, &batch);
	model_close(model);
	safetensors_close(file);
	safetensors_close(values);
	free(emb);
	free(again);
	return failed;
}
