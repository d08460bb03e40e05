/*
 * folder - write a folder of files so that nobody ever sees half of it: the files go to a
 * folder beside the target, which is renamed into place when all of them are on the disk.
 *
 * A model's folder of that name is replaced.  It holds the files that we read or write, those of
 * its modules too, and nothing else: whatever else is there is somebody's, and never removed.
 */
#ifndef FOLDER_FOLDER_H
#define FOLDER_FOLDER_H

#include <stdbool.h>

#include "text/tree.h"

/* Weights in eight bits, made of those beside them and kept: they are no part of what a model is. */
#define FOLDER_INT8 "model.int8.safetensors"
/* The same for products in eight bits. */
#define FOLDER_PACKED "model.precision-int8.safetensors"

/* Die as folder_begin would where `dir` exists: before long work, not after it. */
void folder_check(const char *dir);

/* A new, empty folder beside `dir`; its path, which folder_commit frees.  It is removed with
 * what is in it when the program dies or a signal ends it.  Dies when `dir` exists and is not
 * empty nor a model's, naming what does not belong to one; or when no folder can be made. */
char *folder_begin(const char *dir);

/* Put it in the place of `dir`; the files that were there are removed.  Frees `temporary`. */
void folder_commit(char *temporary, const char *dir);

/* Write a file in a folder, whole or not at all; the folder is made where it is missing, and
 * one that `name` begins with. */
void folder_write(const char *dir, const char *name, const char *text, size_t length);
void folder_write_json(const char *dir, const char *name, const struct tree *tree);

/* Copy a file between folders; false when the source has none called so. */
bool folder_copy(const char *from, const char *to, const char *name);

/* The files of a model and its modules in a folder that is being made; those of weights are hard links
 * where the file system can. */
void folder_link(const char *from, const char *to);

/* Die where `path` is a file and `what`, "a model", is a folder. */
void folder_demand(const char *path, const char *what);

/* Whether a file's name is one of weights, in any format that models are published in. */
bool folder_is_weights(const char *name);

/* A file of weights in a model's folder or one of its modules', in any format that models are
 * published in; to be freed.  NULL: there is none. */
char *folder_weights(const char *dir);

#endif
