/*
 * frame - tokenises a text with its template and prompt around it.
 *
 *	string = BEFORE PROMPT text AFTER
 *
 * BEFORE and AFTER are the two parts of a template.  The whole string is tokenised.  If it has more than `most` ids,
 * the text is cut, never the parts around it:
 *
 *	ids = the first (most - |TAIL|) ids of the whole, TAIL
 *
 * TAIL: the ids of AFTER, and the special tokens after it, as they follow a word: those of "a" AFTER without those of
 * "a". If AFTER starts with a letter or digit, or "a" and its start make one token, it is tokenised by itself.  So the
 * text loses tokens from its end.  A token that spans the end of the text and the start of AFTER, such as '."', occurs
 * only if the text is whole.
 *
 * A tokenizer that truncates at the left keeps the special tokens at the start and the last ids of the whole string;
 * the prompt is cut first.
 *
 * Static embeddings of model2vec (tokenizer_static): BEFORE PROMPT text is cut to a number of characters first, and
 * unknown tokens are removed at the end.
 *
 * FRAME_MOEE prepares PROMPT text as the code of MoEE (Li and Zhou 2024): empty becomes "."; a "." is added unless it
 * ends in one of . ? ! " '; each " becomes '.  In the whole string each _ becomes a blank, and white space is trimmed.
 *
 * FRAME_STRIP trims white space of the whole string.
 *
 * With a chat (chat.h) the text is its one message, and PROMPT the instruction before it.
 */
#ifndef TOKEN_FRAME_H
#define TOKEN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "token/chat.h"
#include "token/ids.h"
#include "token/template.h"
#include "token/tokenizer.h"

enum frame_prepare { FRAME_NONE, FRAME_MOEE, FRAME_STRIP };

struct frame;

/* The tokenizer is borrowed.  template: NULL for none.  most: ids of a text with its special tokens; 0: no limit. */
struct frame *frame_new(const struct tokenizer *tokenizer,
    const struct template *template, enum frame_prepare prepare, size_t most);

/* A frame of texts that a chat template renders; the chat passes over. */
struct frame *frame_new_chat(
    const struct tokenizer *tokenizer, struct chat *chat, size_t most);

/* Sets the prompt; "": none.  Dies if prompt and template leave no room for a text. */
void frame_prompt(struct frame *frame, const char *prompt);

/* Number of tokens of BEFORE PROMPT with the special tokens before it, which pooling skips in a model with
 * include_prompt: false.  0: without a template and a prompt, and with a chat, whose tokens are all pooled. */
size_t frame_head(const struct frame *frame);

/* Scratch memory of a thread: zero it first, free `text` at the end. */
struct framed {
	char *text;
	size_t room;
};

/* Appends the ids of a text; returns whether it was cut.  Thread-safe, with a `string` for each thread. */
bool frame_encode(const struct frame *frame, const char *text, size_t length,
    struct framed *string, struct ids *out);
void frame_free(struct frame *frame);

#endif
