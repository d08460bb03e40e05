/*
 * frame - what stands around each text when it is tokenised, and how the text is prepared.
 *
 *	string = BEFORE PROMPT text AFTER
 *
 * BEFORE and AFTER are a template's, the prompt goes before the text and inside the template.  The
 * ids are those of the whole string.  Where they are more than `most`, the text is cut, what stands
 * around it never:
 *
 *	ids = the first (most - |TAIL|) ids of the whole, TAIL
 *
 * TAIL: the ids of AFTER, and the special ones behind it, as they are where a word stands before:
 * those of "a" AFTER without those of "a".  (Where AFTER begins with a letter or number, or makes one
 * token with that "a", it is tokenised by itself.)  So the text loses tokens, as it has them in the whole,
 * from its end on, and a token into which the end of the text and the beginning of AFTER are
 * joined, as '."' may be, only while the text is whole.
 *
 * Where the tokenizer cuts at the left they are the special ones before it and the last of the whole: the prompt goes first.
 *
 * Of static embeddings in model2vec's way (tokenizer_static), BEFORE PROMPT text is cut to so many characters first, and
 * the token of what is unknown is left out at the end.
 *
 * FRAME_MOEE prepares texts as the program that came with MoEE (Li and Zhou 2024) does: of PROMPT
 * text, where it is empty ".", where it does not end in one of . ? ! " ' with a "." put behind; each "
 * becomes a '; then, in the whole string, each _ a blank, and white space at its ends is dropped.
 */
#ifndef TOKEN_FRAME_H
#define TOKEN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "token/ids.h"
#include "token/template.h"
#include "token/tokenizer.h"

enum frame_prepare { FRAME_NONE, FRAME_MOEE };

struct frame;

/* The tokenizer is borrowed.  template: NULL for none.  most: ids of a text, special ones included; 0: no limit. */
struct frame *frame_new(const struct tokenizer *tokenizer,
    const struct template *template, enum frame_prepare prepare, size_t most);

/* The prompt ("": none) from here on; dies where it or a template leaves no room for a text. */
void frame_prompt(struct frame *frame, const char *prompt);

/* Tokens of BEFORE PROMPT with the special ones before it: what pooling leaves out of the mean where a
 * model says include_prompt: false (models of sentence-transformers); 0: nothing stands there. */
size_t frame_head(const struct frame *frame);

/* The string that is being made, one a thread: zero it, free its text at the end. */
struct framed {
	char *text;
	size_t room;
};

/* Append the ids of a text; true when it was cut.  Several threads may, with a string of their own each. */
bool frame_encode(const struct frame *frame, const char *text, size_t length,
    struct framed *string, struct ids *out);
void frame_free(struct frame *frame);

#endif
