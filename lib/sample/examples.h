/*
 * examples - examples of text files by number, in any order, whatever the files' size.
 *
 * A file is TSV or CSV with a header line, by its name (datafile.h), or else JSON Lines: an object
 * or a list a line.  Opening scans it once and notes where every 16th example begins: one byte of
 * memory an example.  With a folder for indices these marks are written there, and read from there
 * (index.h) as long as the file's size and the time of its last change are the same: no memory, and the
 * next time no scan.  What is compressed (or a pipe) is first unpacked to a file without a name in
 * `tmpdir`.  However many files there are, two are open at a time.
 *
 * Where lists make a row several examples, these are written there, too, so that a row of thousands
 * is read once; 16 bytes of memory an example.  Of both, no index is kept.
 *
 * Dies on a missing, empty or corrupt file and on a bad line, with FILE:LINE.
 */
#ifndef SAMPLE_EXAMPLES_H
#define SAMPLE_EXAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/fields.h"
#include "text/tree.h"

struct examples;

/* How files are read. */
struct examples_options {
	const char
	    *folder; /* put before names that do not start with '/'; NULL: nothing */
	const char *tmpdir; /* NULL: as spool.h says */
	const char *index;  /* the folder for indices; NULL: none are kept */
	int64_t max_line;   /* no line is longer, in bytes */
};

/* Several files are one data set, one after another.  The options' strings are borrowed.  each NULL: a row is an
 * example.  Warns of rows with empty lists, which are none. */
struct examples *examples_open(const char *const *files, int count,
    const struct examples_options *options, const struct fields_each *each);

/* Mixes into `key` which files these are, and into `state` in which state.  False: of pipes nothing is
 * known. */
bool examples_identify(const struct examples *set, uint64_t *key, uint64_t *state);

int64_t examples_count(const struct examples *set);

/* Example `index`, borrowed until the next call; TSV and CSV rows are objects of strings. */
struct tree *examples_get(struct examples *set, int64_t index);

/* Invalid UTF-8 parts that were replaced by U+FFFD in what was read so far. */
int64_t examples_repaired(const struct examples *set);
void examples_close(struct examples *set);

#endif
