#include "edit/group_neurons.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/mt19937.h"
#include "folder/folder.h"
#include "model/model_struct.h"
#include "model/neuron_experts.h"
#include "model/save.h"
#include "score/kmeans.h"

enum { ROUNDS = 20 };

/* The neurons of one MLP: x [n, width], their weights; cluster [n]; centres [count, width]. */
struct neurons {
	double *x, *centres;
	int n, width, count;
	int *cluster;
};

struct candidate {
	double distance;
	int neuron, cluster;
};

static int
by_distance(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->neuron != y->neuron ? x->neuron - y->neuron : x->cluster - y->cluster;
}

/* Gives each cluster n / count neurons, the nearest pairs of neuron and centre first; returns whether a neuron moved. */
static bool
assign(const struct neurons *neurons, struct candidate *candidates)
{
	size_t all = 0, width = (size_t)neurons->width;
	int *room = mem_new((size_t)neurons->count, sizeof *room);
	bool *settled = mem_zero((size_t)neurons->n, sizeof *settled), moved = false;

	for (int i = 0; i < neurons->n; i++)
		for (int c = 0; c < neurons->count; c++)
			candidates[all++] = (struct candidate){
				kmeans_square_distance(neurons->x + (size_t)i * width,
				    neurons->centres + (size_t)c * width, neurons->width),
				i, c
			};
	qsort(candidates, all, sizeof *candidates, by_distance);
	for (int c = 0; c < neurons->count; c++)
		room[c] = neurons->n / neurons->count;
	for (size_t i = 0; i < all; i++) {
		const struct candidate *pair = &candidates[i];
		if (settled[pair->neuron] || !room[pair->cluster])
			continue;
		settled[pair->neuron] = true;
		room[pair->cluster]--;
		moved |= neurons->cluster[pair->neuron] != pair->cluster;
		neurons->cluster[pair->neuron] = pair->cluster;
	}
	free(room);
	free(settled);
	return moved;
}

static void
move_centres(const struct neurons *neurons)
{
	size_t width = (size_t)neurons->width;
	double share = (double)neurons->count / neurons->n;

	memset(neurons->centres, 0,
	    (size_t)neurons->count * width * sizeof *neurons->centres);
	for (int i = 0; i < neurons->n; i++) {
		double *centre = neurons->centres + (size_t)neurons->cluster[i] * width;
		for (size_t c = 0; c < width; c++)
			centre[c] += share * neurons->x[(size_t)i * width + c];
	}
}

/* Balanced k-means of the rows x [n, width]; returns the rows' numbers, cluster by cluster, to be freed. */
static int *
order_of(const float *x, int n, int width, int count, uint64_t seed)
{
	size_t size = (size_t)n * (size_t)width;
	struct neurons neurons = { .x = mem_new(size, sizeof(double)),
		.centres =
		    mem_new((size_t)count, (size_t)width * sizeof *neurons.centres),
		.n = n,
		.width = width,
		.count = count,
		.cluster = mem_new((size_t)n, sizeof *neurons.cluster) };
	struct candidate *candidates =
	    mem_new((size_t)n, (size_t)count * sizeof *candidates);
	struct mt19937 mt;
	int *order = mem_new((size_t)n, sizeof *order), at = 0;

	for (size_t i = 0; i < size; i++)
		neurons.x[i] = (double)x[i];
	for (int i = 0; i < n; i++)
		neurons.cluster[i] = -1;
	mt19937_seed_numpy(&mt, (uint32_t)seed);
	kmeans_plusplus(neurons.centres, &mt, neurons.x, n, width, count);
	for (int round = 0; round < ROUNDS && assign(&neurons, candidates); round++)
		move_centres(&neurons);
	for (int c = 0; c < count; c++)
		for (int i = 0; i < n; i++)
			if (neurons.cluster[i] == c)
				order[at++] = i;
	free(neurons.x);
	free(neurons.centres);
	free(neurons.cluster);
	free(candidates);
	return order;
}

/* The order of a block's neurons, by the weights that decide whether one is active. */
static int *
order_of_block(const struct model *model, int layer, int count, uint64_t seed)
{
	const struct weights *weights = &model->weights;
	bool gated = model->spec.gated;
	const struct tensor_slice *part =
	    &weights->blocks[layer][gated ? BLOCK_GATE : BLOCK_UP];
	const struct safetensor *stored = weights->stored[part->tensor];
	int n = model->spec.layer[layer].inner, width = model->spec.width;
	size_t size = (size_t)n * (size_t)width;
	float *x = mem_new(size, sizeof *x);

	tensor_to_f32(x,
	    (const char *)stored->data + part->offset * dtype_size(stored->dtype),
	    stored->dtype, size);
	int *order = order_of(x, n, width, count, seed);
	free(x);
	return order;
}

/* Puts element order[i] in place i of each of `rows` rows of n elements. */
static void
permute(char *to, const char *from, const int *order, size_t rows, size_t n, size_t bytes)
{
	for (size_t r = 0; r < rows; r++, to += n * bytes, from += n * bytes)
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * bytes, from + (size_t)order[i] * bytes, bytes);
}

/* The same for a block's MLP, in copies[weights.count] of the stored tensors. */
static void
permute_block(const struct model *model, int layer, const int *order, char **copies)
{
	const struct weights *weights = &model->weights;
	size_t C = (size_t)model->spec.width, I = (size_t)model->spec.layer[layer].inner;

	for (int which = MLP_UP; which <= MLP_DOWN; which++) {
		const struct tensor_slice *part =
		    &weights->blocks[layer][BLOCK_UP + which];
		if (part->tensor < 0)
			continue;
		const struct safetensor *stored = weights->stored[part->tensor];
		size_t size = dtype_size(stored->dtype), at = part->offset * size;
		char **copy = &copies[part->tensor];
		if (!*copy) {
			*copy = mem_new(safetensors_bytes(stored), 1);
			memcpy(*copy, stored->data, safetensors_bytes(stored));
		}
		bool down = which == MLP_DOWN;
		bool bias = which == MLP_UP_BIAS || which == MLP_GATE_BIAS;
		permute(*copy + at, (const char *)stored->data + at, order, down ? C : 1,
		    I, down || bias ? size : C * size);
	}
}

void
model_group_neurons(const char *from, const char *dir, int count, uint64_t seed)
{
	struct model model;

	model_open_stored(&model, from);
	const struct weights *weights = &model.weights;
	if (model.spec.experts)
		die("%s: has task experts; group the neurons of the dense model", from);
	spec_refuse_shared(&model.spec, from);
	char *fault = neuron_experts_refuse(&model.spec, count);
	if (fault)
		die("%s: %s", from, fault);
	char **copies = mem_zero((size_t)weights->count, sizeof *copies);
	for (int layer = 0; layer < model.spec.layers; layer++) {
		int *order = order_of_block(&model, layer, count, seed);
		permute_block(&model, layer, order, copies);
		free(order);
	}
	struct safetensor *out = mem_new((size_t)weights->own, sizeof *out);
	for (int i = 0; i < weights->own; i++) {
		out[i] = *weights->stored[i];
		out[i].name = weights->tensors[i].name;
		out[i].data = copies[i] ? copies[i] : out[i].data;
	}
	tree_set(model.config, "neuron_experts", tree_of_integer(count));
	char *folder = model_begin_folder(&model, dir);
	model_write_weights(&model, folder, out, weights->own);
	folder_commit(folder, dir);
	for (int i = 0; i < weights->count; i++)
		free(copies[i]);
	free(copies);
	free(out);
	model_close_stored(&model);
}
