/*
 * documents - files of text as rows: the column path and the column text, both text of depth 1.
 *
 * Of a folder they are the files below it whose names end in .txt, .text, .md, .markdown or .rst, perhaps packed
 * (input.h), in the order of their names' bytes, folder by folder; paths are relative to the folder.  Hidden files and folders, other files
 * and symbolic links are left out; inform() counts them.  A file that is no text is left out with a warning.
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

/* Dies where there is no such file below the folder. */
struct documents *documents_open(const char *folder);

/* One file, which is taken over; dies where it is no text. */
struct documents *documents_of(struct input *input);

/* Up to `rows` files, fewer where they exceed `bytes`; borrowed until the next call.  False at the end. */
bool documents_next(
    struct documents *documents, int64_t rows, int64_t bytes, struct record *record);

/* The part of the bytes of the files that has been read, 0 to 1; below 0: unknown. */
double documents_share(const struct documents *documents);
void documents_close(struct documents *documents);

#endif
