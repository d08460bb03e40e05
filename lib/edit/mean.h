/*
 * mean - a model whose weights are the means of several models' (Wortsman et al. 2022, "Model soups").
 */
#ifndef EDIT_MEAN_H
#define EDIT_MEAN_H

#include "folder/safetensors.h"

/* Writes the folder from[0] with the means of the weights of all `count` folders, in its stored types.  Dies where they
 * differ in shape, configuration, tokenizer or prompts (alike.h). */
void model_mean(const char *const *from, int count, const char *dir);

/* The mean of tensors of one shape, computed in double precision, in the type of the first; to be freed. */
void *mean_of_tensors(const struct safetensor *const *tensors, int count);

#endif
