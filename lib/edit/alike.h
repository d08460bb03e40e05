/*
 * alike - whether the weights of two model folders can be put together.
 */
#ifndef EDIT_ALIKE_H
#define EDIT_ALIKE_H

struct model;

/* Dies, naming the key or the file, unless configuration, head, tokenizer and prompts are the same, so that only the weights
 * differ. */
void demand_alike(const struct model *a, const struct model *b);

#endif
