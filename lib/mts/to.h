/*
 * to - tensor streams as files of other programs.
 *
 * Each reads the stream to its end and writes `path` ("-": standard output) whole.
 * names: the columns to write, in this order; count 0: all of them.
 */
#ifndef MTS_TO_H
#define MTS_TO_H

#include "stream/stream.h"

/* One column of one element a row as an array of NumPy; of several, name one.  bf16 becomes
 * f32; lists and text are refused. */
void to_npy(struct reader *reader, const char *const *names, int count, const char *path);

/* Column X as tensor X of its elements; lists also as X.offsets, i64 [rows + 1], and lists of
 * lists as X.lists, i64 [lists + 1]: the offsets of stream.h. */
void to_safetensors(
    struct reader *reader, const char *const *names, int count, const char *path);

/* One object a row.  Attributes are left out. */
void to_jsonl(
    struct reader *reader, const char *const *names, int count, const char *path);

/* A header line of names, one line a row.  Tabs and line ends within a text become blanks,
 * NaN an empty cell; lists and vectors are written as JSON. */
void to_tsv(struct reader *reader, const char *const *names, int count, const char *path);

#endif
