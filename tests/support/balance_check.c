/*
 * balance_check DIR EXPECTED BALANCE - compare the training of token experts with torch (tests/golden/token_experts.py)
 *
 * EXPECTED has the texts; BALANCE has both losses on them and the gradients of their weighted sum.  The batch as a whole and
 * in chunks of few tokens must give these.  Then the model takes a step on a text of one token: the experts of that token
 * change; the weights of all others keep their bits, and their moments stay zero.
 * Prints one line per comparison; exit 1 when one fails.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/safetensors.h"
#include "golden_check.h"
#include "model/balance.h"
#include "train/gradient_cache.h"
#include "train/loss.h"
#include "train/optim.h"

enum { ROWS = 4, CHUNK = 9 };

static struct sequence *
sequences_of(const struct safetensors *file, int64_t *count)
{
	int32_t *ids = aligned(safetensors_need(file, "ids")),
		*starts = aligned(safetensors_need(file, "starts"));

	*count = (int64_t)safetensors_need(file, "starts")->count - 1;
	struct sequence *sequences = mem_zero((size_t)*count, sizeof *sequences);
	for (int64_t i = 0; i < *count; i++)
		sequences[i] = (struct sequence){ .ids = ids + starts[i],
			.length = starts[i + 1] - starts[i],
			.expert = -1,
			.side = i >= ROWS };
	free(starts);
	return sequences; /* they point into the ids */
}

/* Computes both losses, and their gradients in the model's and in `to`, in host memory. */
static void
learn(struct model *model, const struct sequence *sequences, int64_t count,
    int64_t tokens, const struct safetensors *file, double losses[2], float *to)
{
	size_t width = (size_t)model_width(model);
	size_t bytes = (size_t)count * width * sizeof(float);
	struct gradient_cache *cache = gradient_cache_new(model, tokens);
	struct balance *balance = balance_new(model_spec(model));
	struct loss *loss = loss_new();
	struct loss_batch batch = { .rows = ROWS,
		.negatives = (size_t)count - 2 * ROWS,
		.width = width,
		.temperature = (float)number(file, "temperature") };
	float *dvectors = nn_alloc(bytes);
	double correct;

	nn_zero(model_gradients(model), model_size(model));
	model_balance(model, balance);
	balance_begin(balance);
	float *vectors = gradient_cache_embed(cache, sequences, count);
	losses[1] = balance_end(balance, number(file, "weight"));
	loss_infonce_begin(loss, dvectors, vectors, &batch);
	losses[0] = loss_infonce_end(loss, &correct);
	gradient_cache_backward(cache, dvectors, NULL);
	nn_download(to, model_gradients(model), model_size(model) * sizeof *to);
	printf("%lld chunks\n", (long long)gradient_cache_chunks(cache));
	model_balance(model, NULL);
	balance_free(balance);
	loss_free(loss);
	gradient_cache_free(cache);
	nn_free(dvectors, bytes);
}

static void
compare(struct model *model, const struct safetensors *file, const double *losses,
    const float *got)
{
	double worst = 0;
	int compared = 0;

	verdict("token experts", "InfoNCE", fabs(losses[0] / number(file, "infonce") - 1),
	    1e-5);
	verdict("token experts", "balance", fabs(losses[1] / number(file, "balance") - 1),
	    1e-5);
	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		char *name = mem_format("grad.%s", p->name);
		if (safetensors_find(file, name)) {
			float *wanted = aligned(safetensors_need(file, name));
			double error = distance(got + p->offset, wanted, p->count);
			if (!(error <= 1e-4))
				verdict("token experts", p->name, error, 1e-4);
			worst = error > worst || isnan(error) ? error : worst;
			compared++;
			free(wanted);
		}
		free(name);
	}
	verdict("token experts", "gradients", compared ? worst : INFINITY, 1e-4);
}

/* Counts the matrices of experts that differ from `before`; the moments of the others must be zero. */
static void
count_changed(
    struct model *model, struct optim *optim, const float *before, int *all, int *changed)
{
	size_t size = model_size(model);
	float *values = mem_new(size, sizeof *values);
	struct optim_part all_of = optim_part(optim, 0); /* there is one rank */
	const float *moments[] = { all_of.first, all_of.second };

	nn_download(values, model_values(model), size * sizeof *values);
	for (int i = 0; i < model_parameters(model); i++) {
		const struct parameter *p = model_parameter(model, i);
		size_t pieces = p->stack ? (size_t)p->stack : 1, n = p->count / pieces;
		if (!strstr(p->name, "experts.") ||
		    !strcmp(p->name + strlen(p->name) - 12, "experts.bias"))
			continue;
		for (size_t j = 0; j < pieces; j++) {
			size_t at = p->offset + j * n;
			bool same = !memcmp(values + at, before + at, n * sizeof *values);
			*all += p->columns > 0; /* biases do not decay */
			*changed += p->columns > 0 && !same;
			for (int m = 0; same && m < 2; m++)
				if (nn_square_sum(moments[m] + at, n) != 0)
					verdict("token experts", "a moment that moved",
					    INFINITY, 0);
		}
	}
	free(values);
}

/* One step from one token, with weight decay. */
static void
step_alone(struct model *model, bool update_unused, const struct safetensors *texts)
{
	const struct spec_mixture *mixture = &model_spec(model)->mixture;
	struct optim_options options = { .rate = 1e-2,
		.beta1 = 0.9,
		.beta2 = 0.999,
		.epsilon = 1e-8,
		.decay = 0.1,
		.schedule = SCHEDULE_CONSTANT,
		.update_unused = update_unused };
	struct optim *optim = optim_new(model, &options);
	size_t size = model_size(model), width = (size_t)model_width(model);
	float *before = mem_new(size, sizeof *before), *d = nn_alloc(width * sizeof *d);
	int32_t *ids = aligned(safetensors_need(texts, "ids")), starts[] = { 0, 1 };
	struct batch batch = {
		.sequences = 1, .tokens = 1, .ids = ids, .starts = starts, .expert = -1
	};
	int all = 0, changed = 0;

	nn_zero(model_gradients(model), size);
	nn_download(before, model_values(model), size * sizeof *before);
	for (size_t i = 0; i < width; i++)
		d[i] = (float)(i % 3) - 1;
	model_forward(model, &batch);
	model_backward(model, &batch, d, NULL);
	optim_step(optim, 0, 1);
	count_changed(model, optim, before, &all, &changed);
	printf("%d of %d changed\n", changed, all);
	verdict("token experts",
	    update_unused ? "all experts change" : "only the chosen experts change",
	    all && changed * (update_unused ? 1 : mixture->count) ==
			all * (update_unused ? 1 : mixture->top)
		? 0
		: 1,
	    0);
	optim_free(optim);
	free(before);
	free(ids);
	nn_free(d, width * sizeof *d);
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	nn_start(1, argv);
	struct safetensors *texts = safetensors_open(argv[2]);
	struct safetensors *file = safetensors_open(argv[3]);
	struct model *model = model_open(argv[1], MODEL_TRAIN, 0);
	int64_t count;
	struct sequence *sequences = sequences_of(texts, &count);
	float *whole = mem_new(model_size(model), sizeof *whole);
	float *parts = mem_new(model_size(model), sizeof *parts);
	double losses[2], again[2];

	learn(model, sequences, count, INT32_MAX, file, losses, whole);
	compare(model, file, losses, whole);
	learn(model, sequences, count, CHUNK, file, again, parts);
	compare(model, file, again, parts);
	verdict("token experts", "balance of chunks", fabs(again[1] - losses[1]), 1e-6);
	step_alone(model, false, texts);
	step_alone(model, true, texts);
	model_close(model);
	free((void *)sequences[0].ids);
	free(sequences);
	free(whole);
	free(parts);
	safetensors_close(texts);
	safetensors_close(file);
	return failed;
}
