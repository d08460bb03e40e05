/*
 * import - files of other programs as tensor streams.
 *
 * Each adds its columns to the writer and puts records of at most `rows` rows.
 */
#ifndef IMPORT_H
#define IMPORT_H

#include "stream/stream.h"
#include "text/datafile.h"

/* The first dimension becomes the rows of column `name`. */
void import_npy(const char *path, const char *name, int64_t rows, struct writer *writer);

/* The reverse of export_safetensors.  u8 with offsets is text.  Tensors that are not part of
 * lists must agree in their first dimension; names: those to take, count 0: all. */
void import_safetensors(const char *path, const char *const *names, int count,
    int64_t rows, struct writer *writer);

/* By the rules of table.h; numbers: the fields whose strings are numbers.  Takes the file over. */
void import_text(struct datafile *file, const char *const *numbers, int count,
    int64_t rows, struct writer *writer);

#endif
