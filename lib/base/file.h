/*
 * file - reads whole files; file names; fsync of folders.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the bytes of a regular file, followed by a NUL; the caller frees them.  NULL if the file does not exist.
 * Dies on any other error, on a Git LFS pointer and on a link to no file. */
char *file_read(const char *path, size_t *length);

/* If the bytes are a Git LFS pointer, a message that says so and what to do; else NULL. */
const char *file_pointer(const char *bytes, size_t count);

/* The bytes of a file, without a NUL.  A large file is mapped: it must not change until file_view_close. */
struct file_view {
	const char *text;
	size_t length, mapped;
	void *memory;
};

/* Returns false and a zeroed view if the file does not exist; dies as file_read does. */
bool file_view(const char *path, struct file_view *view);
void file_view_close(struct file_view *view);

/* As file_read, but dies if the file does not exist. */
char *file_need(const char *path, size_t *length);

/* Dies if the path is a pipe or another file that cannot be read twice; to open it again would wait for ever. */
void file_need_twice(const char *path);

/* fsync of a folder, or of the folder that `path` is in: file names in it outlast a crash.  `path` has no slash at its
 * end. */
void file_sync_folder(const char *path);
void file_sync_parent(const char *path);

/* The bytes of a path without the slashes at its end; of "/" and "//" the first. */
size_t file_path_length(const char *path);

/* Returns "PATH.ENDING", without the slashes at the end of the path: "out/" and "log" give "out.log".  The caller frees it. */
char *file_beside(const char *path, const char *ending);

/* Returns the last component of a path; *length: its bytes without the ending (".tsv", ".tsv.gz"). */
const char *file_bare_name(const char *path, size_t *length);

#endif
