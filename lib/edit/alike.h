/*
 * alike - whether the weights of two model folders can be put together.
 */
#ifndef EDIT_ALIKE_H
#define EDIT_ALIKE_H

struct model;

/* Dies, naming the key or the file, unless both make the same of a text, their weights apart: configuration, head, tokenizer,
 * prompts. */
void demand_alike(const struct model *a, const struct model *b);

#endif
