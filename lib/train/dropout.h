/*
 * dropout - the dropout rates of config.json, which training ignores: its loss is that of the model as encode computes it.  Adapters
 * have LoRA's dropout (lora_settings.h).
 */
#ifndef TRAIN_DROPOUT_H
#define TRAIN_DROPOUT_H

/* Reports the ignored rates above 0, under --verbose. */
void dropout_tell(const char *dir);

#endif
