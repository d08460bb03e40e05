/*
 * dataset - examples of text files by number, in any order, whatever the files' size.
 *
 * A file is JSON Lines (an object or a list a line; blank lines are skipped) or, when its name
 * ends in .tsv before .gz or .zst, TSV with a header line.  Opening scans it once and
 * notes where every 16th example begins: one byte of memory an example.  A compressed file
 * (or a pipe) is first copied, unpacked, to a file without a name in `tmpdir`.
 *
 * Dies on a missing, empty or corrupt file and on a bad line, with FILE:LINE.
 */
#ifndef DATASET_H
#define DATASET_H

#include <stdint.h>

#include "text/tree.h"

struct dataset;

/* Several files are one data set, one after another.  `folder` (NULL: none) is put before
 * names that do not start with '/'. */
struct dataset *dataset_open(
    const char *const *files, int count, const char *folder, const char *tmpdir);

int64_t dataset_count(const struct dataset *set);

/* Example `index`, borrowed until the next call; TSV rows are objects of strings. */
struct tree *dataset_get(struct dataset *set, int64_t index);

/* Where the last example stands. */
const char *dataset_file(const struct dataset *set);
int64_t dataset_line(const struct dataset *set);

/* Invalid UTF-8 parts that were replaced by U+FFFD in what was read so far. */
int64_t dataset_repaired(const struct dataset *set);
void dataset_close(struct dataset *set);

#endif
