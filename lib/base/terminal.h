/*
 * terminal - texts of other people on a line of a terminal.
 */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stddef.h>

/* Columns of the terminal behind a descriptor; 0: it is none. */
int terminal_width(int descriptor);

/*
 * A text on one line, at most `width` columns wide (0: however long), to be freed.  White space is one
 * blank, none at the ends; what is not UTF-8, control characters and those that turn the direction
 * of writing become "?"; what is cut ends with an ellipsis.
 */
char *terminal_line(const char *bytes, size_t length, int width);

/* Print a text of other people, such as a name, to standard output: what is not UTF-8 and harmful characters (utf8.h)
 * become "?". */
void terminal_print(const char *text);

/* From here on what is printed to standard output is made plain in this way where that is a terminal: lines and tabs
 * stay.  Files and pipes get what is printed. */
void terminal_guard(void);

/* Columns that such a line takes. */
int terminal_columns(const char *line);

#endif
