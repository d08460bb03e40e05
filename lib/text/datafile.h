/*
 * datafile - rows of text files: JSON Lines, TSV and CSV with a header line, plain lines;
 * plain, gzip or zstd.  By the file's name, else by its first byte ('{': JSON Lines).
 *
 * Invalid UTF-8 is replaced by U+FFFD, one per maximal bad part, and counted.
 */
#ifndef DATAFILE_H
#define DATAFILE_H

#include <stdbool.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/input.h"
#include "text/tree.h"

enum datafile_format {
	DATAFILE_GUESS,
	DATAFILE_JSONL,
	DATAFILE_TSV,
	DATAFILE_CSV,
	DATAFILE_LINES
};

/* "jsonl", "tsv", "csv" or "lines"; dies with usage, naming `option`, on anything else. */
enum datafile_format datafile_parse(const char *option, const char *name);

struct datafile;

struct datafile *datafile_open(const char *path, enum datafile_format format);
struct datafile *datafile_open_input(struct input *input, enum datafile_format format);
const char *datafile_name(const struct datafile *file);

/* The next record as an object; a plain line is {"text": line}; a TSV or CSV row has its
 * header's names and string values (numbers stay strings).  Borrowed until the next
 * call.  NULL at the end.  Blank lines are skipped in JSON Lines only. */
struct tree *datafile_next(struct datafile *file);

/* Whether its values are text that may stand for numbers: TSV, CSV. */
bool datafile_untyped(const struct datafile *file);
int64_t datafile_line(const struct datafile *file); /* of the record just read, from 1 */
int64_t datafile_offset(const struct datafile *file);	/* its first byte, decompressed */
int64_t datafile_repaired(const struct datafile *file); /* invalid UTF-8 parts replaced */
void datafile_close(struct datafile *file);

#endif
