/*
 * tsv - lines of tab-separated values under a line of names; and what CSV shares with it.
 *
 * A value ends at a tab or at the end of its line.  What a CSV writer put in quotes because it had to - the value
 * holds a quote or a tab - is read as that value; other quotes are text, unless all names of the
 * file are in quotes: then its values are, too.  Messages name the file and the line.  Lines come without their newline; a
 * carriage return at the end is not a value's.
 *
 * And lines without a line of names, as runs and judgements have them: columns between tabs, or
 * between blanks where a line has no tab (so that ids may have blanks in files with tabs).
 */
#ifndef TEXT_TSV_H
#define TEXT_TSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

/* The names, a list of strings, and whether they are in quotes; dies on two that are equal.  A column without a name is
 * called "Unnamed: 0", as by pandas, with its number. */
struct tree *tsv_names(
    const char *line, size_t length, const char *file, int64_t number, bool *quoted);

/* An object of strings; dies unless the line has one value for each name.  An empty value
 * behind the last name is none; the last column may be without name and value. */
struct tree *tsv_row(const struct tree *names, bool quoted, const char *line,
    size_t length, const char *file, int64_t number);

/* The same of values that are cut apart already, a list of strings, which is taken over. */
struct tree *tsv_names_of(struct tree *values, const char *file, int64_t number);
struct tree *tsv_row_of(
    const struct tree *names, struct tree *values, const char *file, int64_t number);

/* A column of a line without names, borrowed from the line. */
struct tsv_column {
	const char *start;
	size_t length;
};

/* Undoes, in place, what a CSV writer does to a value that it puts in quotes; false, with nothing changed, where
 * this is no such value.  Quotes without need are text, unless the file puts all its values in quotes. */
bool tsv_unquote(char *text, size_t *length, bool quoted);

/* Cut such a line; returns how many columns there are, `most` + 1 when more than that. */
int tsv_cut(const char *line, struct tsv_column *columns, int most);

/* Dies, naming the file, on an id (with a NUL behind it) that is empty or has what ends a column or a
 * line in it; `what` the file is: "a run". */
void tsv_check_id(const char *file, const char *id, size_t length, const char *what);

#endif
