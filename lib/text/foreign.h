/*
 * foreign - files that are no text: what their first bytes say that they are, and what to do about it.
 */
#ifndef TEXT_FOREIGN_H
#define TEXT_FOREIGN_H

#include <stddef.h>

/* "Parquet; convert it: python3 -c ...", to be freed; NULL: nothing that is known.  `name` is the
 * file's. */
char *foreign_kind(const char *bytes, size_t count, const char *name);

/* The same of a kind that people call by its name: parquet, arrow, feather. */
char *foreign_named(const char *kind, const char *name);

#endif
