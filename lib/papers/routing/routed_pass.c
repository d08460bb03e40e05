#include "papers/routing/routed_pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "papers/routing/gate_columns.h"
#include "papers/routing/router.h"

struct routed_pass {
	struct model *model;
	const struct pilot_library *library;
	const char *path;
	const struct reader *reader;
	struct writer *writer;
	struct routing *routing;
	int *number;		       /* [gates of the library] the model's adapter */
	struct gate_columns **columns; /* [fields] */
	int fields;
	double *scores; /* of a batch, [texts, gates] */
	int32_t *best;
	size_t score_room, best_room;
	struct embed_router router;
};

static int
layer_of(const struct pilot_library *library, const char *path)
{
	int layer = -1, end = 0;

	if (sscanf(library->kind, "hs:layers=%d%n", &layer, &end) == 1 &&
	    !library->kind[end] && layer >= 0)
		return layer;
	die("%s: is a library of %s; gates are chosen on the way by the hidden states of a layer, as 'encode --emit emb=hs:layers=N' makes them",
	    path, library->kind);
}

static void
number_gates(struct routed_pass *pass)
{
	int64_t gates = strings_count(pass->library->gates);

	pass->number = mem_new((size_t)gates, sizeof *pass->number);
	for (int64_t g = 0; g < gates; g++) {
		const char *name = strings_get(pass->library->gates, g);
		pass->number[g] = model_adapter(
		    pass->model, name, strings_length(pass->library->gates, g));
		if (pass->number[g] < 0)
			die("%s: sends texts to the gate '%s'; there are %s", pass->path,
			    name, model_adapter_names(pass->model));
	}
}

/* Callbacks of embed. --------------------------------------------------------------- */

static void
add(void *context, int field, const char *name, bool lists)
{
	struct routed_pass *pass = context;

	pass->columns =
	    mem_resize(pass->columns, (size_t)field + 1, sizeof *pass->columns);
	pass->columns[field] = gate_columns_new(pass->writer, pass->reader, name, lists,
	    pass->library->gates, GATE_COLUMNS_F32);
	pass->fields = field + 1;
}

static void
begin(void *context, int field, int64_t count)
{
	struct routed_pass *pass = context;

	gate_columns_scores(pass->columns[field], count);
	gate_columns_chosen(pass->columns[field], count);
}

static void
route(void *context, int field, const int64_t *lists, const float *vectors, int64_t count,
    int32_t *gates)
{
	struct routed_pass *pass = context;
	size_t known = (size_t)strings_count(pass->library->gates);
	double *scores = gate_columns_scores(pass->columns[field], 0);
	int32_t *chosen = gate_columns_chosen(pass->columns[field], 0);

	pass->scores = mem_grow(pass->scores, &pass->score_room,
	    mem_multiply((size_t)count, known, "scores"), sizeof *pass->scores);
	pass->best =
	    mem_grow(pass->best, &pass->best_room, (size_t)count, sizeof *pass->best);
	router_route(pass->routing, vectors, count, pass->scores, pass->best);
	router_demand_finite(pass->routing, pass->reader, pass->scores, count, lists);
	for (int64_t i = 0; i < count; i++) {
		const double *own = pass->scores + (size_t)i * known;
		memcpy(scores + (size_t)lists[i] * known, own, known * sizeof *own);
		chosen[lists[i]] = pass->best[i];
		gates[i] = pass->number[pass->best[i]];
	}
}

static void
put(void *context, int field, struct record *made, int64_t count, const int64_t *starts)
{
	struct routed_pass *pass = context;

	gate_columns_put(pass->columns[field], made, count, starts);
}

struct routed_pass *
routed_pass_new(struct model *model, const struct pilot_library *library,
    const char *path, const struct reader *reader, struct writer *writer)
{
	struct routed_pass *pass = mem_zero(1, sizeof *pass);
	const char *own = model_fingerprint(model);
	struct router_options options = router_usual(library);

	*pass = (struct routed_pass){ .model = model,
		.library = library,
		.path = path,
		.reader = reader,
		.writer = writer,
		.routing = router_new(library, &options) };
	pass->router = (struct embed_router){ .layer = layer_of(library, path),
		.add = add,
		.begin = begin,
		.route = route,
		.put = put,
		.context = pass };
	if (library->model && strcmp(library->model, own) != 0)
		die("%s: is of model %s; %s is %s", path, library->model,
		    model_dir(model), own);
	if (pass->router.layer >= model_spec(model)->layers)
		die("%s: is of layer %d, and %s has %d blocks: no gate comes after it",
		    path, pass->router.layer, model_dir(model),
		    model_spec(model)->layers);
	int width = model_spec(model)->width * model_head(model)->pools;
	if (library->width != width)
		die("%s: its vectors have width %d, but a pooled layer of %s has %d",
		    path, library->width, model_dir(model), width);
	number_gates(pass);
	return pass;
}

const struct embed_router *
routed_pass_router(const struct routed_pass *pass)
{
	return &pass->router;
}

void
routed_pass_free(struct routed_pass *pass)
{
	for (int i = 0; i < pass->fields; i++)
		gate_columns_free(pass->columns[i]);
	router_free(pass->routing);
	free(pass->columns);
	free(pass->number);
	free(pass->scores);
	free(pass->best);
	free(pass);
}
