/*
 * temporary - files and folders that are being made, under names of their own beside their
 * targets; removed when the program dies or a signal ends it.
 *
 * Only a program that is killed outright leaves its "NAME.*.part".  It is for a person to remove:
 * on a file system that machines share, nobody can tell it from another's work.
 */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

/* A name beside `target` that is nobody's yet, to be freed.  What will be made there is removed
 * at death, until it is forgotten. */
char *temporary_beside(const char *target);

/* A file that is removed at death, until it is forgotten. */
void temporary_add(const char *path);

/* A file or folder was made.  Returns true if it is temporary, or in a temporary folder: then it is
 * removed at death, too. */
bool temporary_made(const char *path);

/* The path and all that is in it stay. */
void temporary_forget(const char *path);

/* Remove what is not forgotten, the latest first; die does so. */
void temporary_remove(void);

#endif
