/*
 * no_text - whether bytes are a text in UTF-8, or what else they are.
 */
#ifndef TEXT_NO_TEXT_H
#define TEXT_NO_TEXT_H

#include <stddef.h>

/* Why a file that begins with these bytes is no text, and what to do, to be freed: "not text but Parquet; ..."; NULL: it may be
 * one.  `name` is the file's. */
char *no_text(const char *bytes, size_t count, const char *name);

#endif
