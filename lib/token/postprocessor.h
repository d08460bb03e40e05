/*
 * postprocessor - the "post_processor" of a tokenizer.json: the special tokens around a text, and around a pair.
 *
 * Supports TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which adds nothing) and Sequences of
 * them; refuses any other by name.  At most one member of a Sequence may
 * add tokens; the reference does not implement more.
 */
#ifndef TOKEN_POSTPROCESSOR_H
#define TOKEN_POSTPROCESSOR_H

#include "text/tree.h"
#include "token/ids.h"
#include "token/pair.h"

/* Appends the ids before and after a text, and those of a pair.  node: "post_processor" of tokenizer.json; NULL: none. */
void postprocessor_read(const struct tree *node, struct ids *before, struct ids *after,
    struct pair_around *pair);

#endif
