/*
 * pooled - the last block of inference, where the pooling reads one token of each sequence, its first or its last.
 *
 * Queries, keys and values are projected for all tokens.  Attention, its output layer, the norms and the MLP are computed for the
 * pooled tokens alone: a BERT of six layers saves an eighth of its GEMMs, one of twelve a sixteenth.  Embeddings keep their bits,
 * because the bits of a row depend on no other row.
 *
 * All rows are computed on a device, with dropout, and while model_watch or linear_watch sees hidden states or inputs of layers.
 */
#ifndef MODEL_POOLED_H
#define MODEL_POOLED_H

#include "model/batch.h"
#include "model/model_struct.h"
#include "model/pass.h"

/* Takes the arrays of pass->pooled, or sets its `tokens` to NULL: all rows are computed.  batch NULL: for no embedding. */
void pooled_layout(
    struct pass *pass, const struct model *model, const struct batch *batch);

/* Fills them; after pass->block is. */
void pooled_upload(
    struct pass *pass, const struct model *model, const struct batch *batch);

/* Sends the pooled tokens through their sequences' adapters, as pass->adapters has them. */
void pooled_find_segments(struct pass *pass, const struct batch *batch);

#endif
