/*
 * tsv - parses lines of tab-separated values with a header line; rows of CSV share its code.
 *
 * A value ends at a tab or at the end of the line.  A quoted value is unquoted if a CSV writer had to quote it,
 * because it contains a quote or a tab, or if all names of the header are quoted; other quotes are text.  Lines are
 * given without their line end; a final carriage return is dropped.
 *
 * tsv_cut reads lines without a header, such as runs and judgements: columns are separated by tabs, or by blanks in a
 * line without tabs.
 */
#ifndef TEXT_TSV_H
#define TEXT_TSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

/* Parses the header into a list of strings; *quoted: whether all names are quoted.  Dies on equal names.  A column
 * without a name becomes "Unnamed: 0", with its number, as in pandas. */
struct tree *tsv_names(
    const char *line, size_t length, const char *file, int64_t number, bool *quoted);

/* Parses a row into an object of strings; dies unless it has one value for each name.  One more value is ignored if it
 * is empty; a last column without a name may lack its value. */
struct tree *tsv_row(const struct tree *names, bool quoted, const char *line,
    size_t length, const char *file, int64_t number);

/* The same for values that are split already: a list of strings, which is taken over. */
struct tree *tsv_names_of(struct tree *values, const char *file, int64_t number);
struct tree *tsv_row_of(
    const struct tree *names, struct tree *values, const char *file, int64_t number);

/* A column of a line; borrowed from the line. */
struct tsv_column {
	const char *start;
	size_t length;
};

/* Unquotes a value in place, as a CSV writer quoted it.  Returns false and changes nothing if the value is not quoted,
 * or quoted without need while the file does not quote all values (`quoted`). */
bool tsv_unquote(char *text, size_t *length, bool quoted);

/* Splits a line without a header; returns the number of columns, `most` + 1 if there are more than `most`. */
int tsv_cut(const char *line, struct tsv_column *columns, int most);

/* Dies if a name, followed by a NUL, is empty or contains a character that ends a column or a line.  kind and what: of the
 * name and of the file that it is written to, for the message: "id", "a run". */
void tsv_check_name(const char *file, const char *kind, const char *name, size_t length,
    const char *what);

#endif
