/*
 * freeze - weights that do not learn, by their names in model.safetensors.
 *
 * A pattern is a glob whose * stands for dots too, or several separated by commas: "embeddings.*,*.attention.*".  "!GLOB" lets what
 * it fits learn again; the last that fits a name decides.  A frozen weight has no gradient and no moments, a backward pass ends at
 * the first block with a weight that learns, and the saved model has the weight's own values.
 */
#ifndef MODEL_FREEZE_H
#define MODEL_FREEZE_H

#include "model/model_struct.h"

/* Marks the tensors of a model that has no values yet.  patterns end with NULL.  Dies where a glob fits no weight. */
void freeze_weights(struct model *model, const char *const *patterns);

#endif
