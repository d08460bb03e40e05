#include "train/weight_average.h"

#include <stdlib.h>

#include "base/mem.h"
#include "nn/nn.h"

struct weight_average {
	struct model *model;
	const struct optim *optim;
	float by;
	float **parts; /* [optim_parts], nn memory */
};

/* The model's weights of a part. */
static float *
values_of(const struct weight_average *average, struct optim_part part)
{
	return model_values(average->model) + part.offset;
}

struct weight_average *
weight_average_new(struct model *model, const struct optim *optim, double decay)
{
	struct weight_average *average;
	size_t count = optim_parts(optim);

	if (decay == 0)
		return NULL;
	average = mem_zero(1, sizeof *average);
	*average = (struct weight_average){ model, optim, (float)(1 - decay),
		mem_zero(count, sizeof *average->parts) };
	for (size_t i = 0; i < count; i++) {
		struct optim_part part = optim_part(optim, i);
		average->parts[i] = nn_alloc(part.count * sizeof(float));
		nn_copy(average->parts[i], values_of(average, part), part.count);
	}
	return average;
}

void
weight_average_free(struct weight_average *average)
{
	if (!average)
		return;
	for (size_t i = 0; i < optim_parts(average->optim); i++)
		nn_free(average->parts[i],
		    optim_part(average->optim, i).count * sizeof(float));
	free(average->parts);
	free(average);
}

void
weight_average_step(struct weight_average *average)
{
	for (size_t i = 0; average && i < optim_parts(average->optim); i++) {
		struct optim_part part = optim_part(average->optim, i);
		nn_lerp(
		    average->parts[i], values_of(average, part), average->by, part.count);
	}
}

void
weight_average_swap(struct weight_average *average)
{
	enum { STRIP = 1 << 18 };
	float *room;

	if (!average)
		return;
	room = nn_alloc(STRIP * sizeof *room);
	for (size_t i = 0; i < optim_parts(average->optim); i++) {
		struct optim_part part = optim_part(average->optim, i);
		float *one = values_of(average, part), *other = average->parts[i];
		for (size_t at = 0, n = STRIP; at < part.count; at += n) {
			if (part.count - at < n)
				n = part.count - at;
			nn_copy(room, one + at, n);
			nn_copy(one + at, other + at, n);
			nn_copy(other + at, room, n);
		}
	}
	nn_free(room, STRIP * sizeof *room);
	optim_share(average->optim);
}

float *
weight_average_part(const struct weight_average *average, size_t index)
{
	return average->parts[index];
}
