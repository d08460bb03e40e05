#include "edit/merge.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/adapters.h"
#include "model/adapter_places.h"
#include "model/model_struct.h"
#include "model/save.h"
#include "text/json.h"

static void
put_f32(float *to, const struct safetensor *from)
{
	float *host = safetensors_floats(from);

	nn_upload(to, host, from->count * sizeof *host);
	free(host);
}

/* Adds scale B A to some rows of W. */
static void
add_product(float *w, const struct adapter_place *place)
{
	const struct adapter_pair *pair = place->pair;
	size_t rank = (size_t)pair->rank, in = pair->a->count / rank;
	float *a = nn_alloc(pair->a->count * sizeof *a);
	float *b = nn_alloc(pair->b->count * sizeof *b);

	put_f32(a, pair->a);
	put_f32(b, pair->b);
	nn_product_nn(w + (size_t)place->to * in, b + (size_t)place->from * rank, a,
	    (size_t)place->rows, in, rank, (float)pair->scale, 1);
	nn_free(a, pair->a->count * sizeof *a);
	nn_free(b, pair->b->count * sizeof *b);
}

/* Puts W plus the products of the places, in the type of W. */
static void
put_merged(struct safetensors_writer *writer, const struct safetensor *w,
    const struct adapter_place *places, size_t count, const char *adapter)
{
	float *merged = nn_alloc(w->count * sizeof *merged);

	put_f32(merged, w);
	for (size_t i = 0; i < count; i++)
		add_product(merged, &places[i]);
	if (!nn_finite(merged, w->count))
		die("%s: with it, the tensor '%s' holds values that are not finite (NaN or infinity)",
		    adapter, w->name);
	model_put(writer, merged, w->count, w->dtype);
	nn_free(merged, w->count * sizeof *merged);
}

static void
put_parameters(struct safetensors_writer *writer, const struct model *model,
    const struct adapter_places *places, const char *adapter)
{
	const struct weights *weights = &model->weights;

	for (size_t i = 0, at = 0; i < (size_t)weights->own; i++) {
		bool changed = at < places->count && places->at[at].tensor == (int)i;
		size_t count = changed ? adapter_places_together(places, at) : 0;
		if (changed)
			put_merged(
			    writer, weights->stored[i], &places->at[at], count, adapter);
		else
			safetensors_put_whole(writer, weights->stored[i]);
		at += count;
	}
}

/* Puts poolers and heads, with what the adapter adds to them. */
static void
put_extra(struct safetensors_writer *writer, const struct model *model,
    const struct adapter_places *places, const char *adapter)
{
	for (int i = 0; i < model->weights.extra_count; i++) {
		const struct safetensor *w = &model->weights.extra[i];
		size_t j = 0;
		while (j < places->beside_count && places->beside[j].extra != i)
			j++;
		if (j == places->beside_count) {
			safetensors_put_whole(writer, w);
			continue;
		}
		put_merged(writer, w,
		    &(struct adapter_place){
			.pair = places->beside[j].pair, .rows = w->shape[0] },
		    1, adapter);
	}
}

/* The width that the adapter's folder keeps takes the place of the model's, as its modules do. */
static void
write_truncation(const char *folder, int width)
{
	static const char name[] = "config_sentence_transformers.json";
	struct tree *config = json_find(folder, name);

	if (!config)
		config = tree_object();
	if (width)
		tree_set(config, "truncate_dim", tree_of_integer(width));
	else
		tree_remove(config, "truncate_dim");
	folder_write_json(folder, name, config);
	tree_free(config);
}

void
model_merge(const char *from, const char *dir, const char *lora)
{
	struct model model;

	model_open_stored(&model, from);
	struct adapter *adapter = adapters_read(&model, lora);
	int truncate = model.head.truncate;
	model_take_head(&model, lora);
	const struct weights *weights = &model.weights;
	struct adapter_places places = adapter_places_find(&model, adapter);
	char *folder = model_begin_folder(&model, dir);
	if (model.head.truncate != truncate)
		write_truncation(folder, model.head.truncate);
	struct safetensor *tensors = mem_new((size_t)weights->own, sizeof *tensors);

	for (int i = 0; i < weights->own; i++) {
		tensors[i] = *weights->stored[i];
		tensors[i].name = weights->tensors[i].name;
	}
	struct safetensors_writer *writer =
	    model_create_weights(&model, folder, tensors, weights->own, NULL);
	put_parameters(writer, &model, &places, adapter_name(adapter));
	put_extra(writer, &model, &places, adapter_name(adapter));
	safetensors_finish(writer);
	folder_commit(folder, dir);
	adapter_places_free(&places);
	adapter_close(adapter);
	free(tensors);
	model_close_stored(&model);
}
