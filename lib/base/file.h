/*
 * file - whole small files as bytes, and paths.
 */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>

/* The bytes of a regular file and a NUL after them, to be freed; NULL when it does not exist;
 * dies on any other fault and on a Git LFS pointer. */
char *file_read(const char *path, size_t *length);

/* The same, but dies when it does not exist. */
char *file_need(const char *path, size_t *length);

/* A path's last name, `length` bytes of it being without its ending (".tsv", ".tsv.gz"). */
const char *file_bare_name(const char *path, size_t *length);

#endif
