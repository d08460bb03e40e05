/*
 * weights_cache - a safetensors file beside the weights that keeps what opening the folder made of them (--weights-cache).
 * Its metadata say which weights it was made of, and how; a file made otherwise is warned of and not used.
 */
#ifndef MODEL_WEIGHTS_CACHE_H
#define MODEL_WEIGHTS_CACHE_H

#include "folder/safetensors.h"

struct model;
struct weights_cache;

/* The file `name` in the model's folder.  made_of: the weights, a word, and how they were converted.  renew: the caller will
 * write it if weights_cache_path is NULL; until then other processes wait. */
struct weights_cache *weights_cache_open(
    const struct model *model, const char *name, const char *made_of, bool renew);
const char *weights_cache_path(
    const struct weights_cache *cache); /* NULL: no usable file */

/* A tensor's data, mapped; dies unless it has that dtype and shape. */
const void *weights_cache_find(
    const struct weights_cache *cache, const struct safetensor *wanted);

/* Write the file, whole or not at all: safetensors_put between these.  Then it can be read. */
struct safetensors_writer *weights_cache_begin(
    const struct weights_cache *cache, const struct safetensor *tensors, int count);
void weights_cache_finish(struct weights_cache *cache, struct safetensors_writer *writer);

/* Informs how many bytes of int8 there are, and whether they are mapped. */
void weights_cache_inform(
    const struct model *model, const struct weights_cache *cache, size_t bytes);
void weights_cache_close(struct weights_cache *cache);

#endif
