/*
 * examples - examples of text files by number, in any order, whatever the files' size.
 *
 * A file is TSV or CSV with a header line, by its name (datafile.h), or else JSON Lines: an object
 * or a list a line.  Opening scans it once and notes where every 16th example begins: one byte of
 * memory an example.  What is compressed (or a pipe) is first unpacked to a file without a name in
 * `tmpdir`.  However many files there are, two are open at a time.
 *
 * Where lists make a row several examples, these are written there, too, so that a row of thousands
 * is read once; 16 bytes of memory an example.
 *
 * Dies on a missing, empty or corrupt file and on a bad line, with FILE:LINE.
 */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include <stdint.h>

#include "sample/fields.h"
#include "text/tree.h"

struct examples;

/* Several files are one data set, one after another.  `folder` (NULL: none) is put before
 * names that do not start with '/'; tmpdir NULL: as spool.h says.  No line is longer than
 * max_line bytes.  each NULL: a row is an example.  Warns of rows with empty lists, which are none. */
struct examples *examples_open(const char *const *files, int count, const char *folder,
    const char *tmpdir, int64_t max_line, const struct fields_each *each);

int64_t examples_count(const struct examples *set);

/* Example `index`, borrowed until the next call; TSV and CSV rows are objects of strings. */
struct tree *examples_get(struct examples *set, int64_t index);

/* Invalid UTF-8 parts that were replaced by U+FFFD in what was read so far. */
int64_t examples_repaired(const struct examples *set);
void examples_close(struct examples *set);

#endif
