/*
 * examples - random access to the examples of text files of any size.
 *
 * A file is TSV or CSV with a header line, by its name (datafile.h), or else JSON Lines: an object or a list per line.  Opening
 * scans it once and records the offset of every 16th example: one byte of memory per example.  With a folder for indices the
 * offsets are stored there (index.h) and reused while the file's size and modification time are the same: no memory, and no
 * second scan.  A compressed file or a pipe is first unpacked to a temporary file in `tmpdir`.  At most two files are open.
 *
 * With `each`, a row's lists make several examples, which are written to the temporary file too, so that a row of thousands is
 * read once; 16 bytes of memory per example.  Temporary files have no stored index.
 *
 * Dies with FILE:LINE on a missing, empty or corrupt file and on a bad line.
 */
#ifndef SAMPLE_EXAMPLES_H
#define SAMPLE_EXAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/fields.h"
#include "text/tree.h"

struct examples;

struct examples_options {
	const char *folder; /* of relative file names; NULL: the working directory */
	const char *tmpdir; /* NULL: see spool.h */
	const char *index;  /* the folder for indices; NULL: none */
	int64_t max_line;   /* maximal bytes of a line */
};

/* Concatenates the files to one data set.  The options' strings are borrowed.  each NULL: a row is an example.  Warns of rows
 * whose lists are empty, which have no example. */
struct examples *examples_open(const char *const *files, int count,
    const struct examples_options *options, const struct fields_each *each);

/* Hashes the files' paths into `key`, their sizes and modification times into `state`.  False for pipes. */
bool examples_identify(const struct examples *set, uint64_t *key, uint64_t *state);

int64_t examples_count(const struct examples *set);

/* Example `index`, borrowed until the next call; TSV and CSV rows are objects of strings. */
struct tree *examples_get(struct examples *set, int64_t index);

/* Number of invalid UTF-8 sequences replaced by U+FFFD so far. */
int64_t examples_repaired(const struct examples *set);
void examples_close(struct examples *set);

#endif
