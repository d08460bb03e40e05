/*
 * merge - a model with a LoRA adapter merged into its weights: W + scale B A instead of W.
 */
#ifndef EDIT_MERGE_H
#define EDIT_MERGE_H

/* Writes a copy of the folder `from` with the adapter of the folder `lora` merged, in the stored types.  Dies where a
 * merged tensor has NaN or infinity. */
void model_merge(const char *from, const char *dir, const char *lora);

#endif
