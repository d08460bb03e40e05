#include "encode/emit_terms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/similarity_name.h"
#include "model/terms.h"
#include "model/token_terms.h"

/* Terms of a text, in the order in which texts were computed. */
struct text_terms {
	int64_t start, count;
};

/* The columns of one field. */
struct terms_output {
	int ids_column, weights_column;
	struct text_terms *texts; /* [lists] */
	int64_t lists;
	struct weighed_token *met; /* [met_count], as computed */
	int64_t met_count;
	/* in the order of the record */
	int64_t *offsets; /* [lists + 1] */
	int32_t *ids;
	float *weights;
	size_t texts_room, met_room, offsets_room, ids_room, weights_room;
};

struct emit_terms {
	const char *name;
	struct model *model;
	struct terms *terms;
	struct terms_output *outputs; /* [fields] */
	int fields, field;	      /* field: at work */
	const int64_t *lists;
};

struct emit_terms *
emit_terms_new(struct model *model, const char *name, enum dtype precision, int64_t most)
{
	struct emit_terms *emit = mem_zero(1, sizeof *emit);

	emit->name = name;
	emit->model = model;
	emit->terms = terms_open(model, precision, most);
	return emit;
}

static void
tell(const struct emit_terms *emit, struct writer *out)
{
	char count[32];
	char *similarity = similarity_name_read(model_dir(emit->model));
	const struct head *head = model_head(emit->model);
	bool cosine = head->splade.is && head->listed && !strcmp(similarity, "cosine");

	snprintf(count, sizeof count, "%" PRId64, terms_vocabulary(emit->terms));
	stream_property(out, "sparse.terms", count);
	stream_property(out, "sparse.similarity", cosine ? similarity : NULL);
	free(similarity);
}

void
emit_terms_add(struct emit_terms *emit, struct writer *out, const char *field,
    const struct column *ids)
{
	char *name = mem_format("%s.%s", field, emit->name);
	char *weights = mem_format("%s.weights", name);

	emit->outputs =
	    mem_resize(emit->outputs, (size_t)emit->fields + 1, sizeof *emit->outputs);
	emit->outputs[emit->fields++] = (struct terms_output){
		.ids_column = stream_add(out,
		    &(struct column){
			.name = name, .dtype = DTYPE_I32, .depth = ids->depth }),
		.weights_column = stream_add(out,
		    &(struct column){
			.name = weights, .dtype = DTYPE_F32, .depth = ids->depth })
	};
	tell(emit, out);
	free(name);
	free(weights);
}

void
emit_terms_begin(struct emit_terms *emit, int field, int64_t lists)
{
	struct terms_output *to = &emit->outputs[field];

	emit->field = field;
	to->lists = lists;
	to->met_count = 0;
	to->texts =
	    mem_grow(to->texts, &to->texts_room, (size_t)lists, sizeof *to->texts);
}

static void
put(void *context, size_t text, int64_t count, const int32_t *ids, const float *weights)
{
	struct emit_terms *emit = context;
	struct terms_output *to = &emit->outputs[emit->field];

	to->texts[emit->lists[text]] = (struct text_terms){ to->met_count, count };
	to->met = mem_grow(
	    to->met, &to->met_room, (size_t)(to->met_count + count), sizeof *to->met);
	for (int64_t i = 0; i < count; i++)
		to->met[to->met_count++] = (struct weighed_token){ ids[i], weights[i] };
}

void
emit_terms_see(
    struct emit_terms *emit, const struct model_seen *seen, const int64_t *lists)
{
	emit->lists = lists;
	terms_weigh(emit->terms, seen, put, emit);
}

/* Brings the texts' terms to the order of the record. */
static void
arrange(struct terms_output *to)
{
	size_t met = (size_t)to->met_count;

	to->offsets = mem_grow(
	    to->offsets, &to->offsets_room, (size_t)to->lists + 1, sizeof *to->offsets);
	to->ids = mem_grow(to->ids, &to->ids_room, met, sizeof *to->ids);
	to->weights = mem_grow(to->weights, &to->weights_room, met, sizeof *to->weights);
	to->offsets[0] = 0;
	for (int64_t i = 0; i < to->lists; i++) {
		const struct text_terms *text = &to->texts[i];
		int64_t at = to->offsets[i];
		to->offsets[i + 1] = at + text->count;
		for (int64_t k = 0; k < text->count; k++) {
			to->ids[at + k] = to->met[text->start + k].id;
			to->weights[at + k] = to->met[text->start + k].weight;
		}
	}
}

void
emit_terms_end(struct emit_terms *emit, int field, struct record *made,
    const struct array *ids, int depth)
{
	struct terms_output *from = &emit->outputs[field];
	struct array *columns[] = { &made->columns[from->ids_column],
		&made->columns[from->weights_column] };

	arrange(from);
	for (int i = 0; i < 2; i++) {
		columns[i]->offsets[0] = depth == 2 ? ids->offsets[0] : from->offsets;
		columns[i]->offsets[1] = depth == 2 ? from->offsets : NULL;
	}
	columns[0]->data = from->ids;
	columns[1]->data = from->weights;
}

void
emit_terms_free(struct emit_terms *emit)
{
	for (int i = 0; i < emit->fields; i++) {
		struct terms_output *to = &emit->outputs[i];
		free(to->texts);
		free(to->met);
		free(to->offsets);
		free(to->ids);
		free(to->weights);
	}
	terms_free(emit->terms);
	free(emit->outputs);
	free(emit);
}
