#include "model/packed_weights.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/model_struct.h"
#include "model/weights_cache.h"

/* Random tokens that calibrate int8. */
enum { SEQUENCES = 8, LENGTH = 32 };

/* A matrix as it is stored, and packed. */
struct packed_weight {
	const void *from;
	struct tensor_slice part;
	size_t O, C, bytes;
	bool turned;
	float *most; /* [C], absmax of the input's columns */
	const void *packed;
	bool mapped; /* in the cache; else from nn_alloc */
};

struct packed_weights {
	enum dtype kind;
	struct packed_weight *all;
	size_t count, room, bytes;  /* bytes: of all packed */
	struct weights_cache *kept; /* NULL: none */
};

static struct packed_weight *
find_part(const struct packed_weights *packed, const struct tensor_slice *part)
{
	for (size_t i = 0; i < packed->count; i++)
		if (packed->all[i].part.tensor == part->tensor &&
		    packed->all[i].part.offset == part->offset)
			return &packed->all[i];
	return NULL;
}

/* The layers. ---------------------------------------------------------------------- */

/* Called for each linear layer of blocks and experts, with its matrix [O,C] and its part of a tensor. */
typedef void visit(struct packed_weights *packed, struct nn_matrix *matrix,
    const struct tensor_slice *part, int64_t O, int64_t C, bool turned);

static void
each_of_block(const struct model *model, struct packed_weights *packed, int layer,
    size_t b, visit *do_with)
{
	static const enum block_parameter linear[] = { BLOCK_Q, BLOCK_K, BLOCK_V,
		BLOCK_OUT, BLOCK_LAYER_IN, BLOCK_LAYER_GATE, BLOCK_LAYER_OUT, BLOCK_UP,
		BLOCK_GATE, BLOCK_DOWN };
	const struct spec *spec = &model->spec;

	for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
		enum block_parameter which = linear[i];
		int64_t O, C, k = 0, v = 0;
		if (!spec_block_shape(spec, layer, which, &O, &C) ||
		    (spec->fused && (which == BLOCK_K || which == BLOCK_V)))
			continue;
		if (spec->fused && which == BLOCK_Q) {
			spec_block_shape(spec, layer, BLOCK_K, &k, &C);
			spec_block_shape(spec, layer, BLOCK_V, &v, &C);
		}
		do_with(packed, &model->blocks[b].at[which],
		    &model->weights.blocks[b][which], O + k + v, C, false);
	}
}

static void
each(const struct model *model, struct packed_weights *packed, visit *do_with)
{
	static const enum mlp_parameter linear[] = { MLP_UP, MLP_GATE, MLP_DOWN };
	const struct spec *spec = &model->spec;
	size_t experts = (size_t)spec->layers * (size_t)spec->mixture.count;
	int64_t O, C;

	for (int layer = 0; layer < spec->layers; layer++)
		for (size_t b = model_block_index(model, layer, -1);
		     b < model_block_index(model, layer + 1, -1); b++)
			each_of_block(model, packed, layer, b, do_with);
	for (size_t e = 0; e < experts; e++)
		for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
			if (spec_mixture_shape(spec, linear[i], &O, &C)) {
				bool turned =
				    linear[i] == MLP_DOWN && spec->mixture.turned;
				do_with(packed, &model->mixtures[e][linear[i]],
				    &model->weights.mixtures[e][linear[i]],
				    turned ? C : O, turned ? O : C, turned);
			}
}

static void
note(struct packed_weights *packed, struct nn_matrix *matrix,
    const struct tensor_slice *part, int64_t O, int64_t C, bool turned)
{
	if (!matrix->at || matrix->packed || find_part(packed, part))
		return;
	/* a bf16 matrix packed as f32 would take twice the memory */
	if (packed->kind == DTYPE_F32 && matrix->dtype != DTYPE_F32)
		return;
	packed->all =
	    mem_grow(packed->all, &packed->room, packed->count + 1, sizeof *packed->all);
	packed->all[packed->count++] = (struct packed_weight){ .from = matrix->at,
		.part = *part,
		.O = (size_t)O,
		.C = (size_t)C,
		.bytes = nn_packed_size(packed->kind, (size_t)O, (size_t)C),
		.turned = turned,
		.most = mem_zero((size_t)C, sizeof(float)) };
	packed->bytes += packed->all[packed->count - 1].bytes;
}

static void
replace(struct packed_weights *packed, struct nn_matrix *matrix,
    const struct tensor_slice *part, int64_t O, int64_t C, bool turned)
{
	const struct packed_weight *made = find_part(packed, part);

	(void)O, (void)C, (void)turned;
	if (made)
		*matrix = (struct nn_matrix){
			.at = made->packed, .dtype = packed->kind, .packed = true
		};
}

static void
set_rounded(struct packed_weights *packed, struct nn_matrix *matrix,
    const struct tensor_slice *part, int64_t O, int64_t C, bool turned)
{
	(void)packed, (void)part, (void)O, (void)C, (void)turned;
	matrix->bf16 = true;
}

void
packed_weights_resolve(const struct model *model)
{
	if (model->packed && model->packed->count)
		each(model, model->packed, replace);
	if (model->rounded)
		each(model, NULL, set_rounded);
}

void
model_round(struct model *model)
{
	if (!nn_supports(DTYPE_BF16)) {
		inform("%s: products of bf16 are not quicker here; those of f32 are made",
		    model->dir);
		return;
	}
	model->rounded = true;
	packed_weights_resolve(model);
}

/* Calibration. --------------------------------------------------------------------- */

static void
see(void *context, struct nn_matrix w, const float *x, size_t ldx, size_t T, size_t C)
{
	const struct packed_weights *packed = context;
	size_t i = 0;

	while (i < packed->count && packed->all[i].from != w.at)
		i++;
	if (i < packed->count)
		nn_column_absmax(packed->all[i].most, x, ldx, T, C);
}

/* Encodes random tokens, by each task expert. */
static void
calibrate(struct model *model, struct packed_weights *packed)
{
	const struct linear_watch watch = { see, packed };
	const struct spec *spec = &model->spec;
	int32_t length = spec->positions < LENGTH ? spec->positions : LENGTH;
	struct sequence sequences[SEQUENCES];
	int32_t ids[SEQUENCES * LENGTH];
	int64_t order[SEQUENCES];
	struct batch batch = { 0 };
	struct rng rng = rng_seed(1, 0);
	float *emb = mem_new(SEQUENCES, (size_t)model_width(model) * sizeof *emb);

	for (size_t i = 0; i < SEQUENCES * LENGTH; i++)
		ids[i] = (int32_t)rng_below(&rng, (uint64_t)spec->vocabulary);
	model->linear_watch = &watch;
	for (int expert = spec->experts ? 0 : -1;
	     expert < (spec->experts ? spec->experts : 0); expert++) {
		for (int64_t i = 0; i < SEQUENCES; i++) {
			order[i] = i;
			sequences[i] = (struct sequence){ .ids = ids + i * LENGTH,
				.length = length,
				.expert = expert,
				.adapter = -1 };
		}
		batch_pack(&batch, order, SEQUENCES, sequences);
		model_encode(model, &batch, emb);
	}
	model->linear_watch = NULL;
	batch_free(&batch);
	free(emb);
}

/* Packing. ------------------------------------------------------------------------- */

static void
pack(const struct model *model, struct packed_weight *made, enum dtype kind)
{
	const struct safetensor *stored = model->weights.stored[made->part.tensor];
	const char *host =
	    (const char *)stored->data + made->part.offset * dtype_size(stored->dtype);

	if (made->C > NN_MAX_PACKED && kind != DTYPE_F32)
		die("%s: '%s' has rows of %zu values; products of this precision take %d",
		    model->dir, stored->name, made->C, NN_MAX_PACKED);
	void *packed = nn_alloc(made->bytes);
	if (!nn_pack(packed, kind, host, stored->dtype, made->turned, made->most, made->O,
		made->C))
		die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
		    safetensors_name(model->file), stored->name);
	made->packed = packed;
}

struct packed_weights *
packed_weights_new(enum dtype kind)
{
	struct packed_weights *packed = mem_zero(1, sizeof *packed);

	packed->kind = kind;
	return packed;
}

enum dtype
packed_weights_kind(const struct packed_weights *packed)
{
	return packed->kind;
}

/* Packs the matrices from number `first` on. */
static void
pack_noted(struct model *model, size_t first)
{
	const struct packed_weights *packed = model->packed;

	for (size_t i = first; i < packed->count; i++) {
		pack(model, &packed->all[i], packed->kind);
		safetensors_let_go(model->weights.stored[packed->all[i].part.tensor]);
	}
	packed_weights_resolve(model);
}

/* Frees the device's copies of tensors whose every part is packed. */
static void
drop_stored(struct model *model)
{
	const struct packed_weights *packed = model->packed;
	size_t tensors = (size_t)model->weights.count;
	size_t *covered = mem_zero(tensors, sizeof *covered);

	for (size_t i = 0; i < packed->count; i++)
		covered[packed->all[i].part.tensor] +=
		    packed->all[i].O * packed->all[i].C;
	for (size_t i = 0; i < tensors; i++)
		if (covered[i] == model->weights.tensors[i].count)
			model_drop_copy(model, (int)i);
	free(covered);
}

/* A tensor of the cache: the bytes of nn_pack, named after the stored tensor and the offset in it. */
static struct safetensor
describe(const struct model *model, const struct packed_weight *made, char **name)
{
	*name = mem_format("%s from %zu", model->weights.stored[made->part.tensor]->name,
	    made->part.offset);
	return (struct safetensor){ .name = *name,
		.dtype = DTYPE_U8,
		.rank = 1,
		.shape = { (int64_t)made->bytes },
		.count = made->bytes };
}

static void
keep_packed(const struct model *model)
{
	const struct packed_weights *packed = model->packed;
	struct safetensor *all = mem_new(packed->count, sizeof *all);
	char **names = mem_new(packed->count, sizeof *names);
	size_t most = 0;

	for (size_t i = 0; i < packed->count; i++) {
		all[i] = describe(model, &packed->all[i], &names[i]);
		most = all[i].count > most ? all[i].count : most;
	}
	char *bytes = mem_new(most, 1);
	struct safetensors_writer *writer =
	    weights_cache_begin(packed->kept, all, (int)packed->count);
	for (size_t i = 0; i < packed->count; i++) {
		nn_download(bytes, packed->all[i].packed, all[i].count);
		safetensors_put(writer, bytes, all[i].count);
		free(names[i]);
	}
	weights_cache_finish(packed->kept, writer);
	free(bytes);
	free(names);
	free(all);
}

static void
take_kept(const struct model *model)
{
	const struct packed_weights *packed = model->packed;

	for (size_t i = 0; i < packed->count; i++) {
		struct packed_weight *made = &packed->all[i];
		char *name;
		struct safetensor wanted = describe(model, made, &name);
		bool copied;
		made->packed = nn_bytes_of(weights_cache_find(packed->kept, &wanted),
		    made->bytes, NN_PACKED_ALIGNMENT, &copied);
		made->mapped = !copied;
		free(name);
	}
	packed_weights_resolve(model);
}

/* Calibration depends on the whole model, so the cache is of its fingerprint. */
static void
open_kept(struct model *model, bool keep)
{
	char *of = mem_format("%s %s", model->folder_fingerprint, nn_packed_layout());

	model->packed->kept = weights_cache_open(model, FOLDER_PACKED, of, keep);
	free(of);
}

void
packed_weights_load(struct model *model, bool keep)
{
	struct packed_weights *packed = model->packed;

	for (int expert = 0; expert < model->spec.experts; expert++)
		model_need_expert(model, expert);
	each(model, packed, note);
	if (packed->kind == DTYPE_I8)
		open_kept(model, keep);
	if (packed_weights_file(packed))
		take_kept(model);
	else {
		if (packed->kind == DTYPE_I8)
			calibrate(model, packed);
		pack_noted(model, 0);
	}
	if (keep && !packed_weights_file(packed))
		keep_packed(model);
	if (packed->kept)
		weights_cache_inform(model, packed->kept, packed->bytes);
	drop_stored(model);
}

const char *
packed_weights_file(const struct packed_weights *packed)
{
	return packed->kept ? weights_cache_path(packed->kept) : NULL;
}

void
packed_weights_floats(struct model *model, int expert)
{
	if (model->quantized || model->gradients || model->mode != MODEL_ENCODE)
		return;
	if (!model->packed)
		model->packed = packed_weights_new(DTYPE_F32);
	if (model->packed->kind != DTYPE_F32)
		return;
	size_t first = model->packed->count;
	for (int layer = 0; layer < model->spec.layers; layer++)
		each_of_block(model, model->packed, layer,
		    model_block_index(model, layer, expert), note);
	if (model->packed->count > first)
		pack_noted(model, first);
}

void
packed_weights_free(struct packed_weights *packed)
{
	if (!packed)
		return;
	for (size_t i = 0; i < packed->count; i++) {
		if (!packed->all[i].mapped)
			nn_free((void *)packed->all[i].packed, packed->all[i].bytes);
		free(packed->all[i].most);
	}
	weights_cache_close(packed->kept);
	free(packed->all);
	free(packed);
}
