/*
 * prompt - the texts that a model wants before its inputs: "prompts" and
 * "default_prompt_name" of config_sentence_transformers.json.
 *
 * A task that config.json gives an expert (model/experts.h) and that has no prompt of its own has that of
 * the expert's name, if there is one, and counts as one of them.  So does a task of "lora_adaptations" (jina-embeddings-v3),
 * which has the text that "task_instructions" has for it, or none.
 */
#ifndef FOLDER_PROMPT_H
#define FOLDER_PROMPT_H

#include "text/tree.h"

/* The prompt called `name`, to be freed; dies listing the names there are. */
char *prompt_find(const char *dir, const char *name);

/* The prompt that is used when none is asked for, to be freed; NULL: none. */
char *prompt_default(const char *dir);

/* All of them by name, to be freed; NULL: there are none. */
struct tree *prompt_list(const char *dir);

#endif
