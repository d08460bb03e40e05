/*
 * head_tensors - reads the weights of the modules that follow the pooling, from each module's own file or from the model's.
 */
#ifndef MODEL_HEAD_TENSORS_H
#define MODEL_HEAD_TENSORS_H

#include "model/model.h"

/* voyage-4-nano projects each token, y = W x, before it pools: Qwen3 with "num_labels" rows of "linear.weight" in the model's
 * file, which modules.json does not list.  Sums and means of W x are W times sums and means of x, so that the projection
 * becomes the first module after the pooling; saved, it is an ordinary Dense.  So does EmbeddingGemma 2 (spec.projection).  Call
 * before weights_match. */
void head_tensors_find_projection(struct model *model);

/* Puts that projection before the modules of a head that was read for this model and does not list it. */
void head_tensors_keep_projection(const struct model *model, struct head *head);

/* Dies where the head has this projection and a pooling that cannot change places with it: max, or several. */
void head_tensors_demand_pooling(const struct model *model);

/* Adds the modules' tensors to model->weights, and opens their files.  Dies naming a tensor that is missing or has another
 * shape, and where modules do not fit together. */
void head_tensors_open(struct model *model);

#endif
