/*
 * hub - names of models of the Hugging Face Hub, and the local cache as the huggingface_hub package lays it out.
 */
#ifndef FOLDER_HUB_H
#define FOLDER_HUB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it can be one: ORG/NAME or NAME, with @REVISION or without. */
bool hub_is_name(const char *name);

/* $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub; to be freed. */
char *hub_cache(void);

/* The folder of a model in the cache, CACHE/models--ORG--NAME, to be freed; `length`: of the name without a revision. */
char *hub_folder(const char *cache, const char *name, int length);

/* The whole name, to be freed, of the model in share/known-models.tsv that has this one, `length` bytes of it, behind its
 * owner's, in letters of any case; NULL: there is none. */
char *hub_whole_name(const char *name, size_t length);

#endif
