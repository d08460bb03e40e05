/*
 * lines - the lines of a table, as TSV or as Markdown.
 */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H

#include <stdbool.h>
#include <stdio.h>

struct lines {
	FILE *out;
	bool markdown;
	int texts; /* how many cells of a line, its first, are text; the others are numbers */
};

/* Its names, up to NULL. */
void lines_head(const struct lines *lines, const char *const *cells);

/* A line: the texts, and the numbers in printf's formats; a format NULL, or formats NULL, prints all digits.  NaN is an empty
 * cell. */
void lines_put(const struct lines *lines, const char *const *texts, const double *numbers,
    const char *const *formats, int count);

#endif
