/*
 * gradient_cache_check DIR ROWS CHUNK - compare the gradient of a contrastive batch as a whole with that in chunks
 *
 * DIR needs config.json only; weights and ROWS pairs of sequences are random.  CHUNK is the number of sequences in a chunk.
 * Prints the greatest difference of the two gradients, relative to the greatest gradient of the same parameter, and exits 1
 * when it is above 1e-5.  Gradients that are zero but for rounding (of the keys' biases) are compared relative to the greatest
 * gradient of the model.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "train/gradient_cache.h"
#include "train/loss.h"

enum { LENGTH = 9 };

/* fmax would drop a NaN. */
static double
larger(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

static void
gradient(struct model *model, struct sequence *sequences, size_t rows, int64_t tokens,
    float *to)
{
	size_t width = (size_t)model_width(model),
	       bytes = 2 * rows * width * sizeof(float);
	struct gradient_cache *cache = gradient_cache_new(model, tokens);
	struct loss *loss = loss_new();
	struct loss_batch batch = { .rows = rows, .width = width, .temperature = 0.05f };
	float *dvectors = nn_alloc(bytes);
	double correct;

	nn_zero(model_gradients(model), model_size(model));
	float *vectors = gradient_cache_embed(cache, sequences, (int64_t)(2 * rows));
	loss_infonce_begin(loss, dvectors, vectors, &batch);
	double value = loss_infonce_end(loss, &correct);
	gradient_cache_backward(cache, dvectors, NULL);
	nn_download(to, model_gradients(model), model_size(model) * sizeof *to);
	printf(
	    "%lld chunks: loss %.6f\n", (long long)gradient_cache_chunks(cache), value);
	nn_free(dvectors, bytes);
	loss_free(loss);
	gradient_cache_free(cache);
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	nn_start(0, argv);
	struct model *model = model_open(argv[1], MODEL_INIT, 3);
	size_t rows = strtoul(argv[2], NULL, 10), chunk = strtoul(argv[3], NULL, 10);
	struct sequence *sequences = mem_new(2 * rows, sizeof *sequences);
	int32_t *ids = mem_new(2 * rows * LENGTH, sizeof *ids);
	float *whole = mem_new(model_size(model), sizeof *whole);
	float *parts = mem_new(model_size(model), sizeof *parts);
	struct rng rng = rng_seed(1, 1);
	double worst = 0, overall = 0;

	for (size_t i = 0; i < 2 * rows * LENGTH; i++)
		ids[i] =
		    (int32_t)rng_below(&rng, (uint64_t)model_spec(model)->vocabulary);
	for (size_t i = 0; i < 2 * rows; i++)
		sequences[i] = (struct sequence){ .ids = ids + i * LENGTH,
			.length = (int32_t)(LENGTH - rng_below(&rng, 4)),
			.expert = model_spec(model)->experts
				      ? (int)(i % (size_t)model_spec(model)->experts)
				      : -1,
			.side = i >= rows };
	gradient(model, sequences, rows, INT32_MAX, whole);
	gradient(model, sequences, rows, (int64_t)(chunk * LENGTH), parts);

	for (size_t i = 0; i < model_size(model); i++)
		overall = fmax(overall, fabs((double)whole[i]));
	for (int p = 0; p < model_parameters(model); p++) {
		const struct parameter *parameter = model_parameter(model, p);
		double greatest = 1e-3 * overall, difference = 0;
		for (size_t i = parameter->offset;
		     i < parameter->offset + parameter->count; i++) {
			greatest = fmax(greatest, fabs((double)whole[i]));
			difference =
			    larger(difference, fabs((double)whole[i] - (double)parts[i]));
		}
		worst = larger(worst, difference / greatest);
		if (difference / greatest > 1e-5)
			printf(
			    "%s: %.1e of %.1e\n", parameter->name, difference, greatest);
	}
	printf("greatest relative difference: %.1e\n", worst);
	free(sequences);
	free(ids);
	free(whole);
	free(parts);
	model_close(model);
	return worst <= 1e-5 ? 0 : 1;
}
