/*
 * quantized_weights - the matrices of linear layers as int8 (nn_quantize), for --weights int8: made when the folder is opened,
 * or mapped from model.int8.safetensors.
 */
#ifndef MODEL_QUANTIZED_WEIGHTS_H
#define MODEL_QUANTIZED_WEIGHTS_H

#include <stdbool.h>

struct model;
struct quantized_weights;

/* Sets model->quantized and these tensors of model->data.  keep: write the file if it is not there. */
void quantized_weights_load(struct model *model, bool keep);
const char *quantized_weights_file(
    const struct quantized_weights *quantized); /* they are mapped from; NULL: none */
void quantized_weights_free(struct quantized_weights *quantized);

#endif
