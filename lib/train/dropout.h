/*
 * dropout - which rates of dropout a model's config.json has.
 *
 * Training applies none of them: a step is the gradient of the loss of the model as encode computes it.  Of adapters the
 * rate is LoRA's own (lora_settings.h).
 */
#ifndef TRAIN_DROPOUT_H
#define TRAIN_DROPOUT_H

/* Say, where --verbose asks for it, which rates above 0 are left out. */
void dropout_tell(const char *dir);

#endif
