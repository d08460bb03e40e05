/*
 * dropout_rates - the dropout of a model in training (model/dropout.h), as `train --dropout` has it.  Without that option there is
 * none: the loss is that of the model as encode computes it.  Adapters have LoRA's dropout (lora_settings.h).
 */
#ifndef TRAIN_DROPOUT_RATES_H
#define TRAIN_DROPOUT_RATES_H

#include <stdint.h>

#include "model/model.h"

/* The argument of --dropout, optarg: "config" is DROPOUT_CONFIG, a number itself.  Exits with a usage error on anything else. */
#define DROPOUT_CONFIG (-1.0)
double dropout_rates_parse(void);

/* Begins dropout at `rate`; 0: reports the ignored rates of config.json above 0, under --verbose. */
void dropout_rates_apply(struct model *model, double rate, uint64_t seed);

#endif
