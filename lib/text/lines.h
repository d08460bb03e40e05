/*
 * lines - prints the lines of a table, as TSV or as Markdown.
 */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H

#include <stdbool.h>
#include <stdio.h>

struct lines {
	FILE *out;
	bool markdown;
	int texts; /* number of leading cells that are text; the others are numbers */
};

/* Prints a text that has no place for a tab or line break: each is a blank, and in Markdown a bar, which would end the cell, has
 * a backslash. */
void lines_text(FILE *out, bool markdown, const char *text);

/* Prints the column names, up to NULL. */
void lines_head(const struct lines *lines, const char *const *cells);

/* Prints a line: the texts, then `count` numbers, each by its printf format; a format NULL, or formats NULL: the shortest decimal
 * that reads back equal.  NaN is an empty cell. */
void lines_put(const struct lines *lines, const char *const *texts, const double *numbers,
    const char *const *formats, int count);

#endif
