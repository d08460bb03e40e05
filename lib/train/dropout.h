/*
 * dropout - which rates of dropout a model's config.json has.
 *
 * Training applies none of them: a step is the gradient of the loss of the model as encode computes it.  Of adapters the
 * rate is LoRA's own (lora_settings.h).
 */
#ifndef DROPOUT_H
#define DROPOUT_H

/* Those above 0 as "NAME VALUE, ...", to be freed; NULL: there are none. */
char *dropout_named(const char *dir);

#endif
