/*
 * folder - writes a model folder whole or not at all: files go to a temporary folder beside the target, which is
 * renamed into place when all of them are on disk.
 *
 * An existing folder is replaced only if it contains nothing but files of a model and its modules.  Other files are
 * never removed.
 */
#ifndef FOLDER_FOLDER_H
#define FOLDER_FOLDER_H

#include <stdbool.h>

#include "text/tree.h"

/* Caches made from the weights beside them, which are not part of the model: int8 weights ... */
#define FOLDER_INT8 "model.int8.safetensors"
/* ... and weights packed for int8 products. */
#define FOLDER_PACKED "model.precision-int8.safetensors"
/* train's notes on a run, which are no part of the model either. */
#define FOLDER_TRAIN "train.json"

/* Dies as folder_begin would; call before long work. */
void folder_check(const char *dir);

/* Makes an empty folder beside `dir`; returns its path, which folder_commit frees.  It is removed if the program dies
 * or a signal ends it.  Dies if `dir` exists and is neither empty nor a model folder (the message names a file that
 * does not belong to a model), or if the folder cannot be made. */
char *folder_begin(const char *dir);

/* Renames the folder to `dir` and removes the old one.  Frees `temporary`. */
void folder_commit(char *temporary, const char *dir);

/* Removes the files of a model, and the folder if nothing else is in it. */
void folder_remove(const char *dir);

/* Write the file DIR/NAME, whole or not at all.  DIR is made if it is missing, and so is the folder of a name
 * "1_Pooling/...". */
void folder_write(const char *dir, const char *name, const char *text, size_t length);
void folder_write_json(const char *dir, const char *name, const struct tree *tree);

/* Copies a file between folders, if it exists. */
void folder_copy(const char *from, const char *to, const char *name);

/* Copies the files of a model and its modules into a temporary folder; weights become hard links where the file system
 * allows. */
void folder_link(const char *from, const char *to);

/* Dies if `path` is a file: `what`, such as "a model", is a folder. */
void folder_demand(const char *path, const char *what);

/* Whether a folder has a file or folder of this name. */
bool folder_has(const char *dir, const char *name);

/* Whether a file name is that of weights, in any format of published models. */
bool folder_is_weights(const char *name);

/* The path of such a file in the model folder or in a folder of its modules, to be freed; NULL: there is none. */
char *folder_weights(const char *dir);

#endif
