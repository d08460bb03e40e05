/*
 * pooled - the last block of inference where the pooling reads one token of each sequence, the first or the last: after attention's
 * keys and values only this token's row is computed (the queries of all tokens are, too).  A BERT of six layers saves an eighth of its
 * GEMMs so, one of twelve a sixteenth.  Embeddings keep their bits: a row's bits depend on no other row.
 *
 * On processors only; all rows are computed where somebody looks at hidden states or at the inputs of layers (model_watch,
 * linear_watch), and with dropout.
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
