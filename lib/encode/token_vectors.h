/*
 * token_vectors - a vector for each token of a text, of a late-interaction model (folder/late_interaction.h): the ragged column
 * "X.tokens", f32 [width], one level deeper than the texts.
 *
 * A query has a vector for each of its ids; in a document the ids of the skip list have none.  The record's attribute
 * experts{X}, which tok writes, says "query" or "document".
 *
 * A model of BGE-M3's kind (model/bge_m3.h) has a vector, of length 1, for each token but the first.
 */
#ifndef ENCODE_TOKEN_VECTORS_H
#define ENCODE_TOKEN_VECTORS_H

#include <stdint.h>

#include "model/batch.h"
#include "model/model.h"
#include "stream/stream.h"

struct token_vectors;

/* Dies if the model has no vectors of tokens. */
struct token_vectors *token_vectors_new(struct model *model);
void token_vectors_free(struct token_vectors *vectors);

/* Adds a field's column "X.NAME", made from the column `ids` of lists of ids. */
void token_vectors_add(struct token_vectors *vectors, struct writer *out,
    const char *field, const char *name, const struct column *ids);

/* Begins field `field` (as added, from 0) of a record: its texts, borrowed until token_vectors_end. */
void token_vectors_begin(struct token_vectors *vectors, int field,
    const struct tree *attributes, const struct sequence *texts, int64_t count);

/* Takes the vectors of a batch of the field's texts lists[0], lists[1], ... from its last hidden states. */
void token_vectors_take(struct token_vectors *vectors, int field, const int64_t *lists,
    const struct model_seen *seen);

/* The field's column of a made record, whose ids were `ids`; borrowed until the next record. */
void token_vectors_end(struct token_vectors *vectors, int field, struct record *made,
    const struct array *ids);

#endif
