/*
 * from - files of other programs as tensor streams.
 *
 * Each adds its columns to the writer and puts records of at most `rows` rows.
 */
#ifndef MTS_FROM_H
#define MTS_FROM_H

#include "stream/stream.h"
#include "text/datafile.h"

/* The first dimension becomes the rows of column `name`. */
void from_npy(const char *path, const char *name, int64_t rows, struct writer *writer);

/* The reverse of to_safetensors.  u8 with offsets is text.  Tensors that are not part of
 * lists must agree in their first dimension; names: those to take, count 0: all. */
void from_safetensors(const char *path, const char *const *names, int count, int64_t rows,
    struct writer *writer);

/* By the rules of table.h; numbers: the fields whose strings are numbers.  Takes the file over. */
void from_text(struct datafile *file, const char *const *numbers, int count, int64_t rows,
    struct writer *writer);

#endif
