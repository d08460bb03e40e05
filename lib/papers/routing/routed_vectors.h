/*
 * routed_vectors - a column of embeddings that a library sends to gates, and what is appended of them (gate_columns.h).
 */
#ifndef PAPERS_ROUTING_ROUTED_VECTORS_H
#define PAPERS_ROUTING_ROUTED_VECTORS_H

#include <stdbool.h>

#include "papers/routing/router.h"
#include "stream/stream.h"

struct routed_vectors;

/*
 * The column FIELD.emb, of one vector a row or of lists of them; field NULL: the only one.  `library` is borrowed, and
 * `path` what it is called.  Dies where there is no such column, on vectors that went through gates, of another width
 * than the library's or (unless `any_model`) of another model.
 */
struct routed_vectors *routed_vectors_open(struct reader *reader, const char *field,
    const struct library *library, const char *path, enum similarity similarity,
    bool any_model);

void routed_vectors_add(struct routed_vectors *routed, struct writer *writer);

/* Dies on vectors that are not finite, or have no finite score. */
void routed_vectors_route(struct routed_vectors *routed, const struct routing *routing,
    const struct record *record, struct record *made);

/* Warns of vectors that have no cosine. */
void routed_vectors_close(struct routed_vectors *routed);

#endif
