/*
 * Distillation from a teacher's vectors (guide.h), through the gradient cache:
 *	loss = mean over all texts of 1 - cosine of the embedding and the teacher's
 * With objective_options.project the embedding goes through a linear layer first, which is trained, too (model_training.project).
 * It is sentence-transformers' EmbedDistillLoss, and half its MSELoss of vectors of length 1 times their width.
 *
 * With several ranks (ranks.h) each computes the share of its own texts.
 */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "train/paired.h"

struct distil {
	struct paired pairs;
	float *host, *lengths, *cosines; /* [texts]; host memory, nn memory */
	size_t host_room, lengths_size, cosines_size;
};

static void
begin(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct distil *distil = (struct distil *)pairs;
	size_t count = (size_t)batch->count, width = pairs->width, all = count;

	if (batch->guide_width != width)
		die("%s: the teacher's vectors have %zu components, the model's %zu; --project %zu learns a projection, 'encode --dim' cuts vectors of a Matryoshka model",
		    batch->stream, batch->guide_width, width, batch->guide_width);
	const float *teacher = paired_guide(pairs, batch);
	if (report)
		all = batch->all;
	distil->lengths = nn_reserve(
	    distil->lengths, &distil->lengths_size, count, sizeof *distil->lengths);
	distil->cosines = nn_reserve(
	    distil->cosines, &distil->cosines_size, count, sizeof *distil->cosines);
	distil->host =
	    mem_grow(distil->host, &distil->host_room, count, sizeof *distil->host);
	nn_normalize(vectors, distil->lengths, vectors, count, width);
	nn_dot_rows(distil->cosines, vectors, teacher, count, width);
	nn_download(distil->host, distil->cosines, count * sizeof *distil->host);
	pairs->correct = NAN;
	pairs->loss = 0;
	for (size_t i = 0; i < count; i++)
		pairs->loss += (1 - (double)distil->host[i]) / (double)all;
	if (!report)
		return;
	nn_copy(pairs->gradient, teacher, count * width);
	nn_scale(pairs->gradient, -1 / (float)all, count * width);
	nn_normalize_back(
	    pairs->gradient, pairs->gradient, vectors, distil->lengths, count, width);
}

static void
open_distil(struct objective *objective, const char *path)
{
	struct paired *pairs = (struct paired *)objective;

	objective->options.contrast.alone = true;
	objective->options.contrast.guide = true;
	objective->options.contrast.guide_held_out = true;
	objective->options.contrast.usual_temperature = 1;
	paired_open(objective, path);
	pairs->begin = begin;
}

static void
close_distil(struct objective *objective)
{
	struct distil *distil = (struct distil *)objective;

	paired_close(objective);
	free(distil->host);
	nn_free(distil->lengths, distil->lengths_size);
	nn_free(distil->cosines, distil->cosines_size);
}

const struct objective_type objective_distil = {
	.name = "distil",
	.size = sizeof(struct distil),
	.rate = 2e-5,
	.balance = 0.001,
	.applies = "project balance lora freeze-documents documents dev-corpus",
	.open = open_distil,
	.close = close_distil,
	.settings = paired_settings,
	.dev = paired_dev,
	PAIRED_FUNCTIONS,
};
