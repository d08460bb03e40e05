#include "papers/routing/routed_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "papers/routing/gate_columns.h"
#include "papers/routing/training_queries.h"
#include "search/vectors.h"

struct routed_vectors {
	struct reader *reader;
	const char *field; /* or NULL */
	const struct pilot_library *library;
	struct vectors *vectors;
	struct gate_columns *columns;
};

static void
check_model(const struct routed_vectors *routed, const char *path, bool any_model)
{
	const char *name = stream_name(routed->reader), *model = routed->library->model;
	const char *own = tree_string(stream_properties(routed->reader), "model", NULL);

	training_queries_check_base(routed->reader);
	if (!any_model && own && model && strcmp(own, model) != 0)
		die("%s: its vectors are of model %s, those of %s of model %s; encode the queries with that one",
		    name, own, path, model);
	training_queries_check_kind(routed->vectors, path, routed->library->kind);
	if (routed->vectors->width != routed->library->width)
		die("%s: its vectors have width %d, those of %s %d; encode the queries with the same model",
		    name, routed->vectors->width, path, routed->library->width);
}

struct routed_vectors *
routed_vectors_open(struct reader *reader, const char *field,
    const struct pilot_library *library, const char *path, enum similarity similarity,
    bool any_model)
{
	struct routed_vectors *routed = mem_zero(1, sizeof *routed);
	int units = similarity == SIMILARITY_COSINE ? VECTORS_UNITS : 0;

	routed->reader = reader;
	routed->field = field;
	routed->library = library;
	if (!field && values_find_embedding(reader, NULL, 0) >= 0 &&
	    values_find_embedding(reader, NULL, 1) >= 0)
		die("%s: it has embeddings of rows and of lists; choose with --field",
		    stream_name(reader));
	routed->vectors = vectors_open(reader, field, VECTORS_LISTS | units);
	check_model(routed, path, any_model);
	return routed;
}

void
routed_vectors_add(struct routed_vectors *routed, struct writer *writer)
{
	routed->columns = gate_columns_new(writer, routed->reader, routed->field,
	    routed->vectors->lists, routed->library->gates, GATE_COLUMNS_F32);
}

void
routed_vectors_route(struct routed_vectors *routed, const struct routing *routing,
    const struct record *record, struct record *made)
{
	struct vectors *vectors = routed->vectors;

	vectors_load(vectors, record);
	double *scores = gate_columns_scores(routed->columns, vectors->count);
	router_route(routing, vectors->units ? vectors->units : vectors->raw,
	    vectors->count, scores, gate_columns_chosen(routed->columns, vectors->count));
	router_demand_finite(routing, routed->reader, scores, vectors->count, NULL);
	gate_columns_put(routed->columns, made, vectors->count, vectors_lists(vectors));
}

void
routed_vectors_close(struct routed_vectors *routed)
{
	if (routed->vectors->units)
		vectors_warn_zero(routed->vectors, "all their cosines are 0");
	vectors_close(routed->vectors);
	gate_columns_free(routed->columns);
	free(routed);
}
