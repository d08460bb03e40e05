/* A model with a LoRA adapter: merged copies of the tensors that it changes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/model_internal.h"

struct gate {
	int count;
	int *tensors;	/* of the weights */
	float **merged; /* in nn memory */
	size_t *sizes;	/* bytes */
	char fingerprint[17];
};

int
model_pair_tensor(const struct model *model, const struct adapter *adapter,
    const struct adapter_pair *pair)
{
	const struct weights *weights = &model->weights;
	int found = -1;

	for (int i = 0; i < weights->own; i++) {
		if (!adapter_means(pair, weights->tensors[i].name))
			continue;
		if (found >= 0)
			die("%s: the module '%s' may be '%s' or '%s' of %s",
			    adapter_name(adapter), pair->module,
			    weights->tensors[found].name, weights->tensors[i].name,
			    model->dir);
		found = i;
	}
	if (found < 0)
		die("%s: changes the module '%s'; %s has no tensor '%s.weight'",
		    adapter_name(adapter), pair->module, model->dir, pair->module);
	const struct parameter *p = &weights->tensors[found];
	if (p->rows != pair->b->shape[0] || p->columns != pair->a->shape[1])
		die("%s: 'lora_B' and 'lora_A' of '%s' make [%lld, %lld]; the tensor "
		    "'%s' "
		    "of %s is [%lld, %lld]",
		    adapter_name(adapter), pair->module, (long long)pair->b->shape[0],
		    (long long)pair->a->shape[1], p->name, model->dir, (long long)p->rows,
		    (long long)p->columns);
	return found;
}

/* The tensor as the checkpoint has it, in float32. */
static float *
copy_of(const struct model *model, int tensor)
{
	const struct safetensor *stored = model->weights.stored[tensor];
	float *host = mem_new(stored->count, sizeof *host);
	float *at = nn_alloc(stored->count * sizeof *host);

	tensor_to_f32(host, stored->data, stored->dtype, stored->count);
	nn_upload(at, host, stored->count * sizeof *host);
	free(host);
	return at;
}

struct gate *
model_gate(const struct model *model, const struct adapter *adapter)
{
	struct gate *gate = mem_zero(1, sizeof *gate);
	size_t count = (size_t)adapter_count(adapter);
	uint64_t print = adapter_fingerprint(adapter);

	if (model->mode != MODEL_ENCODE)
		die("%s: an adapter is merged into a model that encodes, not one that is "
		    "trained",
		    model->dir);
	gate->tensors = mem_new(count, sizeof *gate->tensors);
	gate->merged = mem_new(count, sizeof *gate->merged);
	gate->sizes = mem_new(count, sizeof *gate->sizes);
	for (; gate->count < (int)count; gate->count++) {
		const struct adapter_pair *pair = adapter_at(adapter, gate->count);
		int tensor = model_pair_tensor(model, adapter, pair);
		for (int i = 0; i < gate->count; i++)
			if (gate->tensors[i] == tensor)
				die("%s: changes the tensor '%s' twice",
				    adapter_name(adapter),
				    model->weights.tensors[tensor].name);
		gate->tensors[gate->count] = tensor;
		gate->sizes[gate->count] =
		    model->weights.tensors[tensor].count * sizeof(float);
		gate->merged[gate->count] = copy_of(model, tensor);
		adapter_merge(pair, gate->merged[gate->count]);
		if (!nn_finite(
			gate->merged[gate->count], model->weights.tensors[tensor].count))
			die("%s: with it, the tensor '%s' of %s holds values that are "
			    "not "
			    "finite (NaN or infinity)",
			    adapter_name(adapter), model->weights.tensors[tensor].name,
			    model->dir);
	}
	print = rng_hash(print, model->fingerprint, strlen(model->fingerprint));
	snprintf(gate->fingerprint, sizeof gate->fingerprint, "%016" PRIx64, print);
	return gate;
}

void
model_use(struct model *model, const struct gate *gate)
{
	model->gate = gate;
	model_resolve(model);
}

struct nn_matrix
model_gated(const struct model *model, int tensor)
{
	for (int i = 0; model->gate && i < model->gate->count; i++)
		if (model->gate->tensors[i] == tensor)
			return (struct nn_matrix){ model->gate->merged[i], DTYPE_F32 };
	return model->data[tensor];
}

const char *
model_fingerprint(const struct model *model)
{
	return model->gate ? model->gate->fingerprint : model->fingerprint;
}

void
gate_free(struct gate *gate)
{
	if (!gate)
		return;
	for (int i = 0; i < gate->count; i++)
		nn_free(gate->merged[i], gate->sizes[i]);
	free(gate->merged);
	free(gate->sizes);
	free(gate->tensors);
	free(gate);
}
