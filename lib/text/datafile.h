/*
 * datafile - rows of text files: JSON Lines or an array of JSON, TSV and CSV with a header line, plain
 * lines; packed or not (input.h).  By the file's name, else by its first bytes ('{', "[{": JSON).
 *
 * Lines end in a line feed, with or without a carriage return before it; in a file without any line feed they
 * end in carriage returns.
 *
 * Invalid UTF-8 is replaced by U+FFFD, one per maximal bad part, and counted.  What is no text -
 * another kind of file, a byte 0, UTF-16, mostly invalid UTF-8, a line beyond the limit - is
 * refused by its name.
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
}; /* bytes of a line (of CSV: a record), unless told otherwise */

/* "jsonl", "tsv", "csv" or "lines"; dies with usage, naming `option`, on anything else. */
enum datafile_format datafile_parse(const char *option, const char *name);

/* What a name ends in, before .gz and the like; DATAFILE_GUESS: nothing known. */
enum datafile_format datafile_by_name(const char *name);

/* DIR/STEM with one of the endings of JSON Lines, TSV and CSV, to be freed; NULL: there is no such
 * file. */
char *datafile_find(const char *dir, const char *stem);

struct datafile;

struct datafile *datafile_open(const char *path, enum datafile_format format);
struct datafile *datafile_open_input(struct input *input, enum datafile_format format);

/* What datafile_open takes an input for: by its name, else by its first byte.  Before the first read. */
enum datafile_format datafile_guess(struct input *input);

/* On `size` bytes, from offset `from`, of an open file that is neither packed nor a pipe; in messages
 * `name`.  Both are borrowed. */
struct datafile *datafile_open_part(int descriptor, const char *name, int64_t from,
    int64_t size, enum datafile_format format);

/* Before the first record: the longest line that is taken. */
void datafile_max_line(struct datafile *file, int64_t bytes);
const char *datafile_name(const struct datafile *file);

/* What messages call it from now on; borrowed. */
void datafile_rename(struct datafile *file, const char *name);

/* The next record as an object; a plain line is {"text": line}; a TSV or CSV row has its
 * header's names and string values (numbers stay strings).  Borrowed until the next
 * call.  NULL at the end.  Skipped are blank lines of JSON Lines, and of TSV and CSV of several columns. */
struct tree *datafile_next(struct datafile *file);

/* The same, but a line of JSON may be no object. */
struct tree *datafile_next_value(struct datafile *file);

/* Whether the rest of the next record has not come until then, a time of clock_now: the input is a
 * pipe, and what writes there pauses.  Never of files, of what is packed, of an array, and at the end. */
bool datafile_waits(struct datafile *file, double until);

/* Step over a record without looking into it; false at the end. */
bool datafile_skip(struct datafile *file);

/* Of a part: go on with the record at that offset in the part, of that line; nothing at or behind
 * `end` is read. */
void datafile_seek(struct datafile *file, int64_t offset, int64_t end, int64_t line);

/* What ends its lines; 0: it is an array of JSON.  Before datafile_seek. */
char datafile_line_end(struct datafile *file);

/* Whether its values are text that may stand for numbers: TSV, CSV. */
bool datafile_untyped(const struct datafile *file);
int64_t datafile_line(const struct datafile *file); /* of the record just read, from 1 */

/* Dies naming that line. */
_Noreturn void datafile_die(const struct datafile *file, const char *what);
int64_t datafile_offset(const struct datafile *file); /* its first byte, decompressed */
/* How much is used up, as of input_share; of a part, of what datafile_seek named. */
double datafile_share(const struct datafile *file);
int64_t datafile_repaired(const struct datafile *file); /* invalid UTF-8 parts replaced */
void datafile_close(struct datafile *file);

#endif
