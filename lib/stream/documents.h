/*
 * documents - text files as rows: the columns path and text, both text of depth 1.
 *
 * A folder is searched recursively for names that end in .txt, .text, .md, .markdown or .rst, perhaps compressed
 * (input.h), folder by folder in byte order of names; paths are relative to the folder.  Hidden files and folders,
 * other files and symbolic links are skipped; inform() counts them.  A file that is not text is skipped with a warning.
 * Invalid UTF-8 is replaced as in datafile.h; carriage returns before line feeds and a byte order mark are dropped.
 */
#ifndef STREAM_DOCUMENTS_H
#define STREAM_DOCUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/input.h"
#include "stream/stream.h"

enum { DOCUMENTS_PATH, DOCUMENTS_TEXT, DOCUMENTS_COLUMNS };
extern const struct column documents_columns[DOCUMENTS_COLUMNS];

struct documents;

bool documents_is_folder(const char *path);

/* Dies if the folder has no such file. */
struct documents *documents_open(const char *folder);

/* A single file; closes the input.  Dies if it is not text. */
struct documents *documents_of(struct input *input);

/* Reads up to `rows` files, fewer if they exceed `bytes` of text; borrowed until the next call.  False at the end. */
bool documents_next(
    struct documents *documents, int64_t rows, int64_t bytes, struct record *record);

/* The share of the files' bytes read so far, 0 to 1; below 0: unknown. */
double documents_share(const struct documents *documents);
void documents_close(struct documents *documents);

#endif
