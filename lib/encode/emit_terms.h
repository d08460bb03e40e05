/*
 * emit_terms - the weights of terms (model/terms.h) as two columns of lists, one a text: of ids, "X.NAME", i32, ascending, and of
 * weights, "X.NAME.weights", f32.  For emit.c.
 *
 * The stream's properties say "sparse.terms", how many terms there are, and "sparse.similarity" if it is not the dot product.
 */
#ifndef ENCODE_EMIT_TERMS_H
#define ENCODE_EMIT_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "stream/stream.h"

struct emit_terms;

/* name: borrowed.  most: terms of a text; 0: as the folder says.  Dies if the model has no head for terms. */
struct emit_terms *emit_terms_new(
    struct model *model, const char *name, enum dtype precision, int64_t most);

/* The calls of emit.h of the same names; emit_terms_see for the last hidden states of the lists that `emit_at` named. */
void emit_terms_add(struct emit_terms *emit, struct writer *out, const char *field,
    const struct column *ids);
void emit_terms_begin(struct emit_terms *emit, int field, int64_t lists);
void emit_terms_see(
    struct emit_terms *emit, const struct model_seen *seen, const int64_t *lists);
void emit_terms_end(struct emit_terms *emit, int field, struct record *made,
    const struct array *ids, int depth);
void emit_terms_free(struct emit_terms *emit);

#endif
