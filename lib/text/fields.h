/*
 * fields - the columns of a line: between tabs, or between blanks where it has no tab (so that
 * ids may have blanks in files with tabs).
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stddef.h>

struct field_text {
	const char *start; /* borrowed from the line */
	size_t length;
};

/* Cut a line, of which a carriage return is no part; returns how many fields there are, `most` + 1
 * when more than that. */
int fields_cut(const char *line, struct field_text *fields, int most);

/* Whether the field is a number, and which: as strtod reads it. */
int fields_number(const struct field_text *field, double *value);

#endif
