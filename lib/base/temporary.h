/*
 * temporary - unfinished files and folders, "NAME.*.part" beside their target, of a long NAME the beginning; removed when the
 * program dies or a signal ends it.
 *
 * After SIGKILL they stay, and the user removes them: on a shared file system a program cannot know whether another
 * machine still writes them.
 */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

/* A new path beside `target`, to be freed.  The file or folder made there is removed at exit by an error, until
 * temporary_forget. */
char *temporary_beside(const char *target);

/* The file is removed at exit by an error, until temporary_forget. */
void temporary_add(const char *path);

/* Call before making a folder, or after making a file.  Returns true if it is temporary or in a temporary folder: then it is
 * removed, too. */
bool temporary_made(const char *path);

/* Keeps the path and everything in it. */
void temporary_forget(const char *path);

/* Removes all that were not forgotten, the latest first; die calls it. */
void temporary_remove(void);

#endif
