/*
 * emit - weights of terms, hidden states of any layer and routing weights of token experts (Li and Zhou 2024, MoEE) as columns
 * beside the embedding.
 *
 * A request is a list, items joined by ',':
 *	[NAME=]emb			the embedding, column "X.emb"
 *	[NAME=]tokens			vectors of tokens, "X.tokens" (token_vectors.h)
 *	[NAME=]sparse[:top=N]		weights of terms, columns "X.sparse" and "X.sparse.weights" (emit_terms.h);
 *					N: terms of a text
 *	[NAME=]hs[:layers=L][:pool=P]	hidden states, "X.hs"
 *	[NAME=]rw[:logits][:pool=P]	routing weights, "X.rw": the router's probabilities over all
 *					experts (or its logits), of every block that has a router; of
 *					a model with neuron experts (neuron_experts.h) their shares of
 *					the activations' energy, after pooling, of every block
 * L: last (default; after the final norm), all, mean (over all), or numbers joined by '+',
 * 0 being the embeddings, negative ones counted from the end (transformers' hidden_states).
 * P: as the folder pools (default of hs; of a decoder that does not say, the last token),
 * last (default of rw), cls, mean, max, mean_sqrt, weighted, several joined by '+', or tokens:
 * one row a token.
 * Elements: of hs [C], or [layers, C] where L is all or several; of rw [routers x experts].
 * Several poolings make C as many times as wide.
 */
#ifndef ENCODE_EMIT_H
#define ENCODE_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/batch.h"
#include "model/model.h"
#include "stream/stream.h"

struct emit;

/* request NULL: the embedding alone.  precision: of the product that makes the weights of terms.  Exits with a usage error if the
 * request cannot be parsed; dies if the model lacks what it asks for.  Takes the model's model_watch. */
struct emit *emit_new(struct model *model, const char *request, enum dtype precision);

/* Sets the stream's properties "emb", "tokens", "hs", "rw" and "sparse", each to the item of the request that has this name, such as
 * "hs:layers=3"; a plain item, and request NULL, set none.  pool: the pooling of --pooling, where
 * the folder has another, which the properties then include ("emb:pool=cls"); NULL: the folder's. */
void emit_tell(struct writer *out, const char *request, const char *pool);

/* The name of the embedding's column after "X.", or NULL when it is not asked for. */
const char *emit_embedding(const struct emit *emit);

/* Add a field's columns: those of X, made from the column `ids` of lists of token ids. */
void emit_add(
    struct emit *emit, struct writer *out, const char *field, const struct column *ids);

/* Begins field `field` (as added, from 0) of a record, before the first of its texts [lists] is computed, which have so many
 * tokens in all.  Texts and attributes of the record are borrowed until emit_end. */
void emit_begin(struct emit *emit, int field, const struct tree *attributes,
    const struct sequence *texts, int64_t lists, int64_t tokens);

/* The next model_encode computes lists[0], lists[1], ... of the field, whose tokens are those from
 * offsets[list] on.  Both are borrowed until then. */
void emit_at(struct emit *emit, const int64_t *lists, const int64_t *offsets);

/* The field's columns of a made record, whose ids were `ids`; borrowed until the next record. */
void emit_end(struct emit *emit, int field, struct record *made,
    const struct column *column, const struct array *ids);
void emit_free(struct emit *emit);

#endif
