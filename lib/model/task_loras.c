#include "model/task_loras.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/pass.h"

/* The LoRA of one task in the embeddings: up low[id] is added to a token's, and its row of types is another.  The adapters own
 * the arrays. */
struct task_lora {
	struct nn_matrix low; /* [V,rank] */
	float *up, *types;    /* scale B' [C,rank]; [C] */
};

static bool
ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), n = strlen(end);

	return length >= n && !strcmp(name + length - n, end);
}

/* The LoRA's A or B beside a tensor, [loras, rows, columns]. */
static const struct safetensor *
factor_of(const struct model *model, const struct parameter *p, char which, int64_t rows,
    int64_t columns)
{
	const char *end =
	    ends_in(p->name, ".weight") ? ".weight" : WEIGHTS_BESIDE "original";
	char *name = mem_format("%.*s" WEIGHTS_BESIDE "0.lora_%c",
	    (int)(strlen(p->name) - strlen(end)), p->name, which);
	const struct safetensor *factor = safetensors_need(model->file, name);

	weights_check(safetensors_name(model->file), factor,
	    &(struct parameter){ .rows = model->spec.loras * rows,
		.columns = columns,
		.stack = model->spec.loras });
	free(name);
	return factor;
}

static void
add_linear(const struct model *model, struct adapters *adapters, int tensor)
{
	const struct parameter *p = &model->weights.tensors[tensor];
	size_t rank = (size_t)model->spec.lora_rank, in = (size_t)p->columns;
	struct nn_matrix a = adapters_mapped(
	    adapters, factor_of(model, p, 'A', (int64_t)rank, p->columns));
	struct nn_matrix b =
	    adapters_mapped(adapters, factor_of(model, p, 'B', p->rows, (int64_t)rank));

	for (int index = 0; index < adapters->count; index++)
		adapters_add(model, adapters, index, tensor,
		    (struct linear_pair){
			.a = nn_matrix_from(a, (size_t)index * rank, in),
			.b = nn_matrix_from(b, (size_t)(index * p->rows), rank),
			.rank = rank,
			.scale = (float)model->spec.lora_scale });
}

static void
add_tokens(const struct model *model, struct adapters *adapters)
{
	const struct parameter *p =
	    &model->weights.tensors[model->weights.stem[STEM_TOKENS].tensor];
	size_t rank = (size_t)model->spec.lora_rank, C = (size_t)p->columns;
	struct nn_matrix a =
	    adapters_mapped(adapters, factor_of(model, p, 'A', p->rows, (int64_t)rank));
	float *b =
	    safetensors_floats(factor_of(model, p, 'B', (int64_t)rank, p->columns));
	float *transposed = mem_new(C * rank, sizeof *transposed);

	for (int index = 0; index < adapters->count; index++) {
		const float *from = b + (size_t)index * rank * C;
		for (size_t c = 0; c < C; c++)
			for (size_t r = 0; r < rank; r++)
				transposed[c * rank + r] =
				    (float)(model->spec.lora_scale *
					    (double)from[r * C + c]);
		adapters->embeddings[index].low =
		    nn_matrix_from(a, (size_t)(index * p->rows), rank);
		adapters->embeddings[index].up =
		    adapters_copy(adapters, transposed, C * rank);
	}
	free(transposed);
	free(b);
}

/* All tokens are of type 0. */
static void
add_types(const struct model *model, struct adapters *adapters)
{
	int tensor = model->weights.stem[STEM_TYPES].tensor;

	if (tensor < 0)
		return;
	const struct parameter *p = &model->weights.tensors[tensor];
	size_t rank = (size_t)model->spec.lora_rank, C = (size_t)p->columns;
	float *types = safetensors_floats(model->weights.stored[tensor]);
	float *a = safetensors_floats(factor_of(model, p, 'A', p->rows, (int64_t)rank));
	float *b =
	    safetensors_floats(factor_of(model, p, 'B', (int64_t)rank, p->columns));
	float *row = mem_new(C, sizeof *row);

	for (int index = 0; index < adapters->count; index++) {
		const float *low = a + (size_t)(index * p->rows) * rank;
		const float *up = b + (size_t)index * rank * C;
		for (size_t c = 0; c < C; c++) {
			double sum = 0;
			for (size_t r = 0; r < rank; r++)
				sum += (double)low[r] * (double)up[r * C + c];
			row[c] = (float)((double)types[c] + model->spec.lora_scale * sum);
		}
		adapters->embeddings[index].types = adapters_copy(adapters, row, C);
	}
	free(row);
	free(b);
	free(a);
	free(types);
}

void
task_loras_load(struct model *model)
{
	const struct spec *spec = &model->spec;
	const struct weights *weights = &model->weights;

	if (!spec->loras)
		return;
	struct adapters *adapters = adapters_new(model, spec->loras);
	unsigned char *marks = adapters_layers(model);
	for (int i = 0; i < spec->loras; i++)
		strings_add(adapters->names, spec->expert_names[i],
		    strlen(spec->expert_names[i]), NULL);
	adapters->embeddings =
	    mem_zero((size_t)spec->loras, sizeof *adapters->embeddings);
	for (int i = 0; i < weights->own; i++) {
		bool embeds = i == weights->stem[STEM_TOKENS].tensor ||
			      i == weights->stem[STEM_TYPES].tensor;
		if (marks[i])
			add_linear(model, adapters, i);
		else if (!embeds && !ends_in(weights->tensors[i].name, ".weight") &&
			 !ends_in(weights->tensors[i].name, ".bias"))
			die("%s: tensor '%s' is not a matrix, and cannot have a LoRA",
			    safetensors_name(model->file), weights->tensors[i].name);
	}
	add_tokens(model, adapters);
	add_types(model, adapters);
	free(marks);
	adapters->list = mem_string(model->expert_names);
	model->adapters = adapters;
}

void
task_loras_demand_finite(const struct model *model)
{
	for (int i = 0; model->spec.loras && i < safetensors_count(model->file); i++) {
		const struct safetensor *factor = safetensors_at(model->file, i);
		if (strstr(factor->name, WEIGHTS_BESIDE "0.lora_"))
			weights_demand_finite(
			    safetensors_name(model->file), factor, factor->name);
	}
}

/* Adds the LoRA to the embeddings of T tokens of one task, from `first` on, a few at a time. */
static void
embed_task(const struct model *model, const struct pass *pass,
    const struct task_lora *own, size_t first, size_t T)
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
task_loras_embed(const struct model *model, const struct pass *pass)
{
	const struct nn_matrix *stem = model->stem;
	const struct task_lora *own =
	    model->adapters ? model->adapters->embeddings : NULL;
	size_t C = (size_t)spec_embedding_width(&model->spec);
	size_t count = own ? pass->adapters.count : 0;
	struct nn_sequences some = pass->block.sequences;

	if (!count)
		nn_embed(pass->sum0, pass->ids, &some, stem[STEM_TOKENS],
		    stem[STEM_TYPES], stem[STEM_POSITIONS], C);
	for (size_t i = 0, first = 0; i < count;
	     first = pass->adapters.segments[i++].end) {
		int index = pass->adapters.segments[i].adapter;
		const float *types = index < 0 ? NULL : own[index].types;
		some.T = pass->adapters.segments[i].end - first;
		nn_embed(pass->sum0 + first * C, pass->ids + first, &some,
		    stem[STEM_TOKENS], types ? nn_f32(types) : stem[STEM_TYPES],
		    (struct nn_matrix){ 0 }, C);
		if (index >= 0)
			embed_task(model, pass, &own[index], first, some.T);
	}
}
