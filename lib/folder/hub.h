/*
 * hub - names of models of the Hugging Face Hub, and the local cache as the huggingface_hub package lays it out.
 */
#ifndef FOLDER_HUB_H
#define FOLDER_HUB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a text has the form of a name: [ORG/]NAME[@REVISION]. */
bool hub_is_name(const char *name);

/* $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub; to be freed.
 * */
char *hub_cache(void);

/* The folder of a model in the cache, CACHE/models--ORG--NAME, to be freed.  length: bytes of the name without
 * revision. */
char *hub_folder(const char *cache, const char *name, int length);

/* The full name ORG/NAME of a model in share/known-models.tsv, by its NAME of `length` bytes in any case; to be freed.
 * NULL: there is none. */
char *hub_whole_name(const char *name, size_t length);

/* The template of instructions of a model in share/known-models.tsv, by its NAME in any case, with {instruction} for the
 * instruction; to be freed.  NULL: there is none. */
char *hub_instruction(const char *name);

#endif
