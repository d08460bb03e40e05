/*
 * prompt - prompts of a model, which go before its inputs: "prompts" and "default_prompt_name" of
 * config_sentence_transformers.json.
 *
 * Tasks are prompts, too.  A task of "task_experts" (model/experts.h) without a prompt has that of its expert, else
 * "".  A task of "lora_adaptations" (jina-embeddings-v3) has its text in "task_instructions", else "".  A late-interaction
 * model (late_interaction.h) has the tasks "query" and "document".
 */
#ifndef FOLDER_PROMPT_H
#define FOLDER_PROMPT_H

#include "text/tree.h"

/* The prompt called `name`, to be freed; dies with a list of the names if there is none. */
char *prompt_find(const char *dir, const char *name);

/* The default prompt, to be freed; NULL: none. */
char *prompt_default(const char *dir);

/* An object of all prompts by name, to be freed; NULL: there are none. */
struct tree *prompt_list(const char *dir);

#endif
