/*
 * textrec - records of text files: JSON Lines, TSV and CSV with a header line, plain lines;
 * plain, gzip or zstd.  By the file's name, else by its first byte ('{': JSON Lines).
 *
 * Invalid UTF-8 is replaced by U+FFFD, one per maximal bad part, and counted.
 */
#ifndef TEXTREC_H
#define TEXTREC_H

#include <stdbool.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/input.h"
#include "text/tree.h"

enum textrec_format {
	TEXTREC_GUESS,
	TEXTREC_JSONL,
	TEXTREC_TSV,
	TEXTREC_CSV,
	TEXTREC_LINES
};

/* "jsonl", "tsv", "csv" or "lines"; dies with usage, naming `option`, on anything else. */
enum textrec_format textrec_parse(const char *option, const char *name);

struct textrec;

struct textrec *textrec_open(const char *path, enum textrec_format format);
struct textrec *textrec_open_input(struct input *input, enum textrec_format format);
const char *textrec_name(const struct textrec *file);

/* The next record as an object; a plain line is {"text": line}; a TSV or CSV row has its
 * header's names and string values (numbers stay strings).  Borrowed until the next
 * call.  NULL at the end.  Blank lines are skipped in JSON Lines only. */
struct tree *textrec_next(struct textrec *file);

/* What it was opened as, or guessed to be. */
enum textrec_format textrec_format(const struct textrec *file);
/* Whether its values are text that may stand for numbers: TSV, CSV. */
bool textrec_untyped(const struct textrec *file);
int64_t textrec_line(const struct textrec *file);   /* of the record just read, from 1 */
int64_t textrec_offset(const struct textrec *file); /* its first byte, decompressed */
int64_t textrec_repaired(const struct textrec *file); /* invalid UTF-8 parts replaced */
void textrec_close(struct textrec *file);

#endif
