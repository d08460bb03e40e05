/*
 * LoRAs that a checkpoint has of its own for tasks, as torch's parametrizations keep them (jina-embeddings-v3): of all T
 * tasks in one tensor, beside each matrix X.parametrizations.weight.original.  Of a linear layer
 *	X.parametrizations.weight.0.lora_A [T,rank,in], .lora_B [T,out,rank]: W + scale B A
 * and of token and type embeddings, the other way round,
 *	.lora_A [T,rows,rank], .lora_B [T,rank,C]: W + scale A B
 * Each task is a gate, whose pairs are views of these tensors.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/pass.h"

/* What a gate makes of a token's embedding: + up low[id], and another row of types. */
struct lora_embedding {
	struct nn_matrix low; /* [V,rank] */
	float *up, *types;    /* scale B' [C,rank]; [C] */
};

static bool
ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), n = strlen(end);

	return length >= n && !strcmp(name + length - n, end);
}

/* The LoRA's half that stands beside a tensor, [loras, rows, columns]. */
static const struct safetensor *
half_of(const struct model *model, const struct parameter *p, char which, int64_t rows,
    int64_t columns)
{
	const char *end =
	    ends_in(p->name, ".weight") ? ".weight" : WEIGHTS_BESIDE "original";
	char *name = mem_format("%.*s" WEIGHTS_BESIDE "0.lora_%c",
	    (int)(strlen(p->name) - strlen(end)), p->name, which);
	const struct safetensor *half = safetensors_need(model->file, name);

	weights_check(safetensors_name(model->file), half,
	    &(struct parameter){ .rows = model->spec.loras * rows,
		.columns = columns,
		.stack = model->spec.loras });
	free(name);
	return half;
}

static void
add_linear(const struct model *model, struct gates *gates, int tensor)
{
	const struct parameter *p = &model->weights.tensors[tensor];
	size_t rank = (size_t)model->spec.lora_rank, in = (size_t)p->columns;
	struct nn_matrix a =
	    gates_mapped(gates, half_of(model, p, 'A', (int64_t)rank, p->columns));
	struct nn_matrix b =
	    gates_mapped(gates, half_of(model, p, 'B', p->rows, (int64_t)rank));

	for (int gate = 0; gate < gates->count; gate++)
		gates_add(model, gates, gate, tensor,
		    (struct linear_pair){ .a = nn_matrix_from(a, (size_t)gate * rank, in),
			.b = nn_matrix_from(b, (size_t)(gate * p->rows), rank),
			.rank = rank,
			.scale = (float)model->spec.lora_scale });
}

static float *
to_host(const struct safetensor *tensor)
{
	float *host = mem_new(tensor->count, sizeof *host);

	tensor_to_f32(host, tensor->data, tensor->dtype, tensor->count);
	return host;
}

static float *
uploaded(const float *host, size_t n)
{
	float *to = nn_alloc(n * sizeof *to);

	nn_upload(to, host, n * sizeof *to);
	return to;
}

static void
add_tokens(const struct model *model, struct gates *gates)
{
	const struct parameter *p =
	    &model->weights.tensors[model->weights.stem[STEM_TOKENS].tensor];
	size_t rank = (size_t)model->spec.lora_rank, C = (size_t)p->columns;
	struct nn_matrix a =
	    gates_mapped(gates, half_of(model, p, 'A', p->rows, (int64_t)rank));
	float *b = to_host(half_of(model, p, 'B', (int64_t)rank, p->columns));
	float *turned = mem_new(C * rank, sizeof *turned);

	for (int gate = 0; gate < gates->count; gate++) {
		const float *from = b + (size_t)gate * rank * C;
		for (size_t c = 0; c < C; c++)
			for (size_t r = 0; r < rank; r++)
				turned[c * rank + r] = (float)(model->spec.lora_scale *
							       (double)from[r * C + c]);
		gates->embeddings[gate].low =
		    nn_matrix_from(a, (size_t)(gate * p->rows), rank);
		gates->embeddings[gate].up = uploaded(turned, C * rank);
	}
	free(turned);
	free(b);
}

/* All tokens are of type 0. */
static void
add_types(const struct model *model, struct gates *gates)
{
	int tensor = model->weights.stem[STEM_TYPES].tensor;

	if (tensor < 0)
		return;
	const struct parameter *p = &model->weights.tensors[tensor];
	size_t rank = (size_t)model->spec.lora_rank, C = (size_t)p->columns;
	float *types = to_host(model->weights.stored[tensor]);
	float *a = to_host(half_of(model, p, 'A', p->rows, (int64_t)rank));
	float *b = to_host(half_of(model, p, 'B', (int64_t)rank, p->columns));
	float *row = mem_new(C, sizeof *row);

	for (int gate = 0; gate < gates->count; gate++) {
		const float *low = a + (size_t)(gate * p->rows) * rank;
		const float *up = b + (size_t)gate * rank * C;
		for (size_t c = 0; c < C; c++) {
			double sum = 0;
			for (size_t r = 0; r < rank; r++)
				sum += (double)low[r] * (double)up[r * C + c];
			row[c] = (float)((double)types[c] + model->spec.lora_scale * sum);
		}
		gates->embeddings[gate].types = uploaded(row, C);
	}
	free(row);
	free(b);
	free(a);
	free(types);
}

void
loras_load(struct model *model)
{
	const struct spec *spec = &model->spec;
	const struct weights *weights = &model->weights;

	if (!spec->loras)
		return;
	struct gates *gates = gates_new(model, spec->loras);
	unsigned char *marks = gates_layers(model);
	for (int i = 0; i < spec->loras; i++)
		strings_add(gates->names, spec->expert_names[i],
		    strlen(spec->expert_names[i]), NULL);
	gates->embeddings = mem_zero((size_t)spec->loras, sizeof *gates->embeddings);
	for (int i = 0; i < weights->own; i++) {
		bool embeds = i == weights->stem[STEM_TOKENS].tensor ||
			      i == weights->stem[STEM_TYPES].tensor;
		if (marks[i])
			add_linear(model, gates, i);
		else if (!embeds && !ends_in(weights->tensors[i].name, ".weight") &&
			 !ends_in(weights->tensors[i].name, ".bias"))
			die("%s: tensor '%s' is no matrix, and cannot have a LoRA",
			    safetensors_name(model->file), weights->tensors[i].name);
	}
	add_tokens(model, gates);
	add_types(model, gates);
	free(marks);
	gates->list = mem_string(model->expert_names);
	model->gates = gates;
}

void
loras_demand_finite(const struct model *model)
{
	for (int i = 0; model->spec.loras && i < safetensors_count(model->file); i++) {
		const struct safetensor *half = safetensors_at(model->file, i);
		bool copied;
		if (!strstr(half->name, WEIGHTS_BESIDE "0.lora_"))
			continue;
		const float *values =
		    nn_weights(half->data, half->dtype, half->count, &copied);
		if (!nn_finite(values, half->count))
			die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
			    safetensors_name(model->file), half->name);
		if (copied)
			nn_free((void *)values, half->count * sizeof *values);
	}
}

/* T tokens of one gate, from `first` on, a few at a time. */
static void
embed_gate(const struct model *model, const struct pass *pass,
    const struct lora_embedding *own, size_t first, size_t T)
{
	size_t C = (size_t)model->spec.width, rank = (size_t)model->spec.lora_rank;
	size_t step = pass->adapters.step;

	for (size_t done = 0; done < T; done += step) {
		struct nn_sequences some = { .T = T - done < step ? T - done : step };
		nn_embed(pass->adapters.low, pass->ids + first + done, &some, own->low,
		    (struct nn_matrix){ 0 }, (struct nn_matrix){ 0 }, rank);
		nn_linear_add(pass->sum0 + (first + done) * C, C, pass->adapters.low,
		    rank, nn_f32(own->up), some.T, rank, C);
	}
}

void
loras_embed(const struct model *model, const struct pass *pass)
{
	const struct nn_matrix *stem = model->stem;
	const struct lora_embedding *own = model->gates ? model->gates->embeddings : NULL;
	size_t C = (size_t)spec_embedding_width(&model->spec);
	size_t count = own ? pass->adapters.count : 0;
	struct nn_sequences some = pass->block.sequences;

	if (!count)
		nn_embed(pass->sum0, pass->ids, &some, stem[STEM_TOKENS],
		    stem[STEM_TYPES], stem[STEM_POSITIONS], C);
	for (size_t i = 0, first = 0; i < count;
	     first = pass->adapters.segments[i++].end) {
		int gate = pass->adapters.segments[i].adapter;
		const float *types = gate < 0 ? NULL : own[gate].types;
		some.T = pass->adapters.segments[i].end - first;
		nn_embed(pass->sum0 + first * C, pass->ids + first, &some,
		    stem[STEM_TOKENS], types ? nn_f32(types) : stem[STEM_TYPES],
		    (struct nn_matrix){ 0 }, C);
		if (gate >= 0)
			embed_gate(model, pass, &own[gate], first, some.T);
	}
}

void
loras_free(const struct model *model, struct lora_embedding *embeddings)
{
	size_t C = (size_t)model->spec.width, rank = (size_t)model->spec.lora_rank;

	for (int i = 0; embeddings && i < model->spec.loras; i++) {
		nn_free(embeddings[i].up, C * rank * sizeof(float));
		nn_free(embeddings[i].types, C * sizeof(float));
	}
	free(embeddings);
}
