/*
 * terminal - prints text from data safely on a terminal.
 */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stddef.h>

/* Columns of the terminal; 0: the descriptor is not a terminal. */
int terminal_width(int descriptor);

/*
 * The text on one line of at most `width` columns (0: any), to be freed.  Runs of white space become one blank and are
 * trimmed; invalid UTF-8 and harmful characters (utf8.h) become "?"; a text that is cut ends with an ellipsis.
 */
char *terminal_line(const char *bytes, size_t length, int width);

/* Prints to standard output; invalid UTF-8 and harmful characters become "?". */
void terminal_print(const char *text);

/* From now on all of standard output is cleaned in that way if it is a terminal; line feeds and tabs stay.  Files and
 * pipes get the bytes unchanged. */
void terminal_guard(void);

/* Columns that a line of terminal_line takes. */
int terminal_columns(const char *line);

#endif
