/*
 * routed_vectors - routes the embeddings of a column by a library, and appends the result (gate_columns.h).
 */
#ifndef PAPERS_ROUTING_ROUTED_VECTORS_H
#define PAPERS_ROUTING_ROUTED_VECTORS_H

#include <stdbool.h>

#include "papers/routing/router.h"
#include "stream/stream.h"

struct routed_vectors;

/*
 * The column FIELD.emb, of one vector per row or of lists; field NULL: the only one.  Borrows the library; `path` is its name for
 * messages.  Dies if there is no such column, and on vectors made with adapters, of another width or (unless `any_model`) of another
 * model.
 */
struct routed_vectors *routed_vectors_open(struct reader *reader, const char *field,
    const struct pilot_library *library, const char *path, enum similarity similarity,
    bool any_model);

void routed_vectors_add(struct routed_vectors *routed, struct writer *writer);

/* Dies on vectors that are not finite, or whose score is not. */
void routed_vectors_route(struct routed_vectors *routed, const struct routing *routing,
    const struct record *record, struct record *made);

/* Warns of zero vectors, which have no cosine. */
void routed_vectors_close(struct routed_vectors *routed);

#endif
