/*
 * foreign - recognises binary file formats by their first bytes, with advice how to convert them.
 */
#ifndef TEXT_FOREIGN_H
#define TEXT_FOREIGN_H

#include <stddef.h>

/* "Parquet; convert it: python3 -c ...", to be freed; NULL: unknown.  name: of the file. */
char *foreign_kind(const char *bytes, size_t count, const char *name);

/* The same for a format given by name: parquet, arrow, feather. */
char *foreign_named(const char *kind, const char *name);

#endif
