/*
 * sentence_config - reads sentence_bert_config.json: sentence-transformers' settings of the transformer's inputs and of
 * the output that is pooled.  Older versions call the file by its family, sentence_roberta_config.json for one.
 *
 * Settings that change embeddings and are not supported are refused by name: outputs other than the last hidden states,
 * chat messages of a late-interaction model, lengths by task, arguments that change the configuration.
 */
#ifndef FOLDER_SENTENCE_CONFIG_H
#define FOLDER_SENTENCE_CONFIG_H

#include <stdbool.h>

#include "text/tree.h"

/* Names of the file, in order of preference; ends with NULL. */
extern const char *const sentence_config_names[];

/* Reads the file in a transformer's folder; the caller frees it.  NULL if it is absent.  Dies on a setting that decides
 * an embedding and is not supported. */
struct tree *sentence_config_read(const char *folder);

/* Whether config_sentence_transformers.json of a folder says that its model is of this kind, such as "CrossEncoder". */
bool sentence_config_is(const char *dir, const char *kind);

/* Whether the transformer's output are the logits of the head that predicts tokens ("fill-mask"). */
bool sentence_config_predicts(const struct tree *config);

/* Whether they are the logits of the next token ("text-generation", and "any-to-any" of one with images). */
bool sentence_config_asks(const struct tree *config);

/* The member of "modality_config" by which the model reads a text as a chat message (token/chat.h); NULL: it reads texts as they are.
 * config may be NULL. */
const struct tree *sentence_config_message(const struct tree *config);

#endif
