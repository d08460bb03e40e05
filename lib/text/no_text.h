/*
 * no_text - tells whether a file is text in UTF-8.
 */
#ifndef TEXT_NO_TEXT_H
#define TEXT_NO_TEXT_H

#include <stddef.h>

/* bytes: the first of a file.  If they are not text, returns why and what to do, to be freed: "not text but Parquet;
 * ..."; else NULL.  name: of the file. */
char *no_text(const char *bytes, size_t count, const char *name);

#endif
