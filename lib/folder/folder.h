/*
 * folder - write a folder of files so that nobody ever sees half of it: the files go to a
 * folder beside the target, which is renamed into place when all of them are on the disk.
 */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>

#include "text/tree.h"

/* Die as folder_begin would where `dir` exists: before long work, not after it. */
void folder_check(const char *dir);

/* A new, empty folder beside `dir`; its path, which folder_commit frees.  What a program that
 * was killed left there is removed.  Dies when `dir` exists and is anything but a model folder
 * (one with a config.json or an adapter_config.json), or when the folder cannot be made. */
char *folder_begin(const char *dir);

/* Put it in the place of `dir`; what was there is removed.  Frees `temporary`. */
void folder_commit(char *temporary, const char *dir);

/* Write a file in the folder, whole and synced; `name` may have one leading folder, which
 * is made. */
void folder_write(const char *dir, const char *name, const char *text, size_t length);
void folder_write_json(const char *dir, const char *name, const struct tree *tree);

/* Copy a file between folders; false when the source has none called so. */
bool folder_copy(const char *from, const char *to, const char *name);

#endif
