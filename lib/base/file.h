/*
 * file - whole small files as bytes, and paths.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a regular file and a NUL after them, to be freed; NULL when it does not exist;
 * dies on any other fault and on a Git LFS pointer. */
char *file_read(const char *path, size_t *length);

/* If the bytes are a Git LFS pointer, a message that says so and what to do; else NULL. */
const char *file_pointer(const char *bytes, size_t count);

/* The bytes of such a file until it is closed, without a NUL; large ones are not copied, so that whoever writes into
 * the file then, or cuts it, disturbs the reader. */
struct file_view {
	const char *text;
	size_t length, mapped;
	void *memory;
};

/* False, with all zero, where it does not exist; dies as file_read does. */
bool file_view(const char *path, struct file_view *view);
void file_view_close(struct file_view *view);

/* As file_read, but dies when it does not exist. */
char *file_need(const char *path, size_t *length);

/* Write to the disk which names a folder has: they outlast a crash from then on.  The parent of
 * `path`: a path without a slash at its end. */
void file_sync_folder(const char *path);
void file_sync_parent(const char *path);

/* A path's last name, `length` bytes of it being without its ending (".tsv", ".tsv.gz"). */
const char *file_bare_name(const char *path, size_t *length);

#endif
