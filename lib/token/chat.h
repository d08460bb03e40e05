/*
 * chat - texts as the messages of a chat, which a template renders, as in sentence-transformers.
 *
 * The template is chat_template.json of the model's folder, if it has images, else chat_template.jinja, else "chat_template" of
 * tokenizer_config.json; "processor_kwargs" of
 * sentence_bert_config.json may give another.  "processing_kwargs" sets its variables.  With an instruction a message of the role
 * "system" comes first.
 *
 * The rendered text is tokenised as a whole.  Of a longer one the end is cut off, and the ids that the template has after the texts,
 * SUFFIX, are put over the last ones, unless processing_kwargs has "restore_suffix": false.  A text-only model adds no special tokens;
 * a model with images does, as its processor, unless the rendered text begins with the first of them.
 */
#ifndef TOKEN_CHAT_H
#define TOKEN_CHAT_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"
#include "token/ids.h"
#include "token/tokenizer.h"

struct chat;

/* A template and the file that it is from, both to be freed; text NULL: there is none.  several: the file has others. */
struct chat_source {
	char *text, *where;
	bool several;
};

/* sentence: sentence_bert_config.json; NULL: none. */
struct chat_source chat_source_read(const char *home, const struct tree *sentence);

/* Whether the template has this word. */
bool chat_source_has(const struct chat_source *source, const char *word);

/* roles: of the messages after the system's; ends with NULL, borrowed, as the tokenizer is.  The source passes over.  sentence NULL:
 * a template without settings. */
struct chat *chat_new(const char *home, const struct tree *sentence,
    struct chat_source source, const char *const *roles,
    const struct tokenizer *tokenizer);
void chat_free(struct chat *chat);

/* The chat of a single text, the user's message, by which a model's folder says ("modality_config" has "message") that it reads texts;
 * NULL: it reads them as they are. */
struct chat *chat_open(const char *dir, const struct tokenizer *tokenizer);

/* Sets the instruction; NULL: none. */
void chat_instruct(struct chat *chat, const char *instruction);

const char *chat_where(const struct chat *chat);

/* One text for each role. */
struct chat_text {
	const char *bytes;
	size_t length;
};

/* The chat as a text, to be freed. */
char *chat_render(const struct chat *chat, const struct chat_text *texts, size_t *length);

/* Appends the ids, at most `most` of them (0: no limit); returns whether some were cut.  Thread-safe. */
bool chat_encode(
    const struct chat *chat, const struct chat_text *texts, size_t most, struct ids *out);

/* The number of ids without texts, or with empty ones. */
size_t chat_least(const struct chat *chat);

#endif
