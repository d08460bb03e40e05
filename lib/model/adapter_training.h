/*
 * adapter_training - the adapter that learns (model_adapt in lora_settings.h): its A and B are the model's parameters.
 */
#ifndef MODEL_ADAPTER_TRAINING_H
#define MODEL_ADAPTER_TRAINING_H

#include "model/model.h"
#include "text/tree.h"

struct adapter_training;

/* Writes the adapter's folder, whole or not at all; origin as in model_save. */
void adapter_training_save(const struct model *model, const char *dir, enum dtype dtype,
    const struct tree *origin);
void adapter_training_free(struct adapter_training *training);

#endif
