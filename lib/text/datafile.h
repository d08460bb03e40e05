/*
 * datafile - reads records of text files: JSON Lines, a JSON array, TSV and CSV with a header line, plain lines; also
 * compressed (input.h).  The format follows from the file name, else from the first bytes ('{' or "[{": JSON).
 *
 * Lines end with LF or CRLF; with CR in a file without any LF.
 *
 * Each maximal part of invalid UTF-8 becomes one U+FFFD and is counted.  Files that are not text are refused with their
 * kind: other formats, a byte 0, UTF-16, mostly invalid UTF-8, a line over the limit.
 */
#ifndef TEXT_DATAFILE_H
#define TEXT_DATAFILE_H

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
enum {
	DATAFILE_LINE = 64 << 20
}; /* default limit of a line, or of a CSV record, in bytes */

/* Parses "jsonl", "tsv", "csv" or "lines"; usage error for `option` on anything else. */
enum datafile_format datafile_parse(const char *option, const char *name);

/* The format of a file name, ignoring .gz and the like; DATAFILE_GUESS: unknown. */
enum datafile_format datafile_by_name(const char *name);

/* The path of DIR/STEM.* that is JSON Lines, TSV or CSV, to be freed; NULL: there is no such file. */
char *datafile_find(const char *dir, const char *stem);

struct datafile;

struct datafile *datafile_open(const char *path, enum datafile_format format);
struct datafile *datafile_open_input(struct input *input, enum datafile_format format);

/* The format that datafile_open would use for an input.  Call before the first read. */
enum datafile_format datafile_guess(struct input *input);

/* Reads `size` bytes from offset `from` of an open, uncompressed regular file.  `name` is for messages.  Descriptor and
 * name are borrowed. */
struct datafile *datafile_open_part(int descriptor, const char *name, int64_t from,
    int64_t size, enum datafile_format format);

/* Sets the limit of a line; call before the first record. */
void datafile_max_line(struct datafile *file, int64_t bytes);
const char *datafile_name(const struct datafile *file);

/* Changes the name in messages; borrowed. */
void datafile_rename(struct datafile *file, const char *name);

/* Returns the next record as an object, NULL at the end; borrowed until the next call.  A plain line is {"text":
 * line}; a row of TSV or CSV maps the header's names to strings.  Blank lines are skipped in JSON Lines, and in TSV
 * and CSV of several columns. */
struct tree *datafile_next(struct datafile *file);

/* As datafile_next, but a JSON value may also be a list, a number, ... */
struct tree *datafile_next_value(struct datafile *file);

/* Whether the next record of a pipe is still incomplete at the time `until` (clock_now): its writer pauses.  Always
 * false for files, compressed input, JSON arrays, and at the end. */
bool datafile_waits(struct datafile *file, double until);

/* Skips a record without parsing it; false at the end. */
bool datafile_skip(struct datafile *file);

/* datafile_open_part only: continues with the record at `offset` of the part, which is line `line`; reads nothing from
 * `end` on. */
void datafile_seek(struct datafile *file, int64_t offset, int64_t end, int64_t line);

/* The line end, '\n' or '\r'; 0: a JSON array.  Call before datafile_seek. */
char datafile_line_end(struct datafile *file);

int64_t datafile_line(const struct datafile *file); /* of the record just read, from 1 */

/* Dies with a message about the line of the record just read. */
_Noreturn void datafile_die(const struct datafile *file, const char *what);
int64_t datafile_offset(
    const struct datafile *file); /* of that record's first byte, decompressed */
/* Share of the file consumed, as input_share; of a part, share of the range given to datafile_seek. */
double datafile_share(const struct datafile *file);
int64_t datafile_repaired(const struct datafile *file); /* invalid UTF-8 parts replaced */
void datafile_warn_repaired(const struct datafile *file); /* if there are any */
void datafile_close(struct datafile *file);

#endif
