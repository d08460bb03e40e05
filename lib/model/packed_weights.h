/*
 * packed_weights - the matrices of linear layers in the order in which nn_linear reads them (nn_pack), as i8, bf16 or f32.
 * model_resolve puts them in the place of the stored matrices.
 */
#ifndef MODEL_PACKED_WEIGHTS_H
#define MODEL_PACKED_WEIGHTS_H

#include "stream/tensor.h"

struct model;
struct packed_weights;

struct packed_weights *packed_weights_new(enum dtype kind);
enum dtype packed_weights_kind(const struct packed_weights *packed);

/* Packs all of a model that is otherwise open; keep: writes i8 to a file beside the weights. */
void packed_weights_load(struct model *model, bool keep);
const char *packed_weights_file(
    const struct packed_weights *packed); /* they are mapped from; NULL: none */

/* Packs the f32 matrices of the blocks of a task expert (-1: the dense ones), once, for a model that encodes many batches.
 * Not in training: backward passes read the stored matrices. */
void packed_weights_floats(struct model *model, int expert);

/* Puts packed matrices, or those whose products are rounded, into the model's blocks. */
void packed_weights_resolve(const struct model *model);
void packed_weights_free(struct packed_weights *packed);

#endif
