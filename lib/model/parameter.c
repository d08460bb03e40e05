/* Tensors that can learn: their shapes, held to those of a checkpoint; one more of them (weights.h). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/weights.h"

char *
weights_shape_text(const int64_t *shape, int rank)
{
	char text[256] = "[";
	size_t n = 1;

	for (int i = 0; i < rank && n < sizeof text - 24; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? ", " : "",
		    (long long)shape[i]);
	return mem_format("%s]", text);
}

int
parameter_shape(int64_t *shape, const struct parameter *tensor)
{
	int rank = 0;
	int64_t stack = tensor->flat ? 0 : tensor->stack;

	if (stack)
		shape[rank++] = stack;
	shape[rank++] = stack ? tensor->rows / stack : tensor->rows;
	if (tensor->columns)
		shape[rank++] = tensor->columns;
	return rank;
}

void
weights_check(
    const char *file, const struct safetensor *tensor, const struct parameter *wanted)
{
	int64_t shape[3];
	int rank = parameter_shape(shape, wanted);

	if (tensor->rank != rank ||
	    memcmp(tensor->shape, shape, (size_t)rank * sizeof *shape))
		die("%s: tensor '%s' has the shape %s; config.json asks for %s", file,
		    tensor->name, weights_shape_text(tensor->shape, tensor->rank),
		    weights_shape_text(shape, rank));
	if (!dtype_is_float(tensor->dtype) &&
	    !(wanted->whole && tensor->dtype == DTYPE_I8))
		die("%s: tensor '%s' is of type %s; a floating type is expected", file,
		    tensor->name, dtype_name(tensor->dtype));
}

void
weights_demand_finite(const char *file, const struct safetensor *tensor, const char *name)
{
	bool copied;
	const float *values =
	    nn_weights(tensor->data, tensor->dtype, tensor->count, &copied);

	if (!nn_finite(values, tensor->count))
		die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
		    file, name);
	if (copied)
		nn_free((void *)values, tensor->count * sizeof *values);
}

int
weights_add(struct weights *weights, const struct safetensor *stored, const char *file,
    struct parameter wanted)
{
	int index = weights->count++;
	size_t count = (size_t)weights->count;

	if (stored)
		weights_check(file, stored, &wanted);
	wanted.count = mem_multiply((size_t)wanted.rows,
	    wanted.columns ? (size_t)wanted.columns : 1, wanted.name);
	wanted.decay = wanted.rows > 1 && wanted.columns > 1;
	weights->tensors =
	    mem_grow(weights->tensors, &weights->room, count, sizeof *weights->tensors);
	weights->stored = mem_grow(
	    weights->stored, &weights->stored_room, count, sizeof *weights->stored);
	weights->stored[index] = stored;
	weights->tensors[index] = wanted;
	return index;
}

size_t
weights_lay_out(struct weights *weights)
{
	size_t learning = 0;

	for (int frozen = 0; frozen < 2; frozen++) {
		for (int i = 0; i < weights->count; i++) {
			struct parameter *p = &weights->tensors[i];
			if (p->frozen != frozen)
				continue;
			p->offset = weights->size;
			weights->size = mem_add(
			    p->offset, (p->count + 15) & ~(size_t)15, "parameters");
		}
		if (!frozen)
			learning = weights->size;
	}
	return learning;
}
