/*
 * postprocessor - the "post_processor" of a tokenizer.json: the special tokens around a text.
 *
 * TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which adds nothing) and
 * Sequences of them; any other is refused by name.  Only the form for one text is read, and one of
 * a Sequence that adds tokens: to the reference two of them are "not yet implemented".
 */
#ifndef TOKEN_POSTPROCESSOR_H
#define TOKEN_POSTPROCESSOR_H

#include "text/tree.h"
#include "token/ids.h"

/* The ids before and after a text; node: the file's "post_processor", NULL: none. */
void postprocessor_read(const struct tree *node, struct ids *before, struct ids *after);

#endif
