/*
 * lora_settings - how an adapter that is to learn is asked for: rank=8,alpha=16,targets=query+value,dropout=0.1,rslora,
 * each part optional, or an adapter folder to go on from.  Rank 8, alpha twice the rank, no dropout; targets as in
 * model.h, all-linear for all layers of the blocks.
 */
#ifndef MODEL_LORA_SETTINGS_H
#define MODEL_LORA_SETTINGS_H

#include "model/model.h"

/* The argument of --lora, which is borrowed; what it is not is a usage error.  Called once. */
struct lora_settings lora_settings_parse(const char *text);

#endif
