/*
 * status_line - one line of the terminal on which the programs of a pipe show progress.
 *
 * Locks on the terminal device decide which program draws: one at a time, and one that knows its total before one that
 * does not.  A program in the background never draws, and none does while results are printed to the terminal.
 * TERM=dumb counts as no terminal.
 */
#ifndef BASE_STATUS_LINE_H
#define BASE_STATUS_LINE_H

#include <stdbool.h>

/* Whether standard error is a terminal that can show the line. */
bool status_line_there(void);

/* Whether this program may draw now.  known: it knows its total. */
bool status_line_mine(bool known);

/* Replaces the line, cut to the current width of the terminal. */
void status_line_draw(const char *text);

/* Clears the line, even if another program drew it: call before printing a message. */
void status_line_clear(void);

/* Clears the line if this program drew it, and gives up the right to draw. */
void status_line_leave(void);

/* Results follow on standard output.  If that is the terminal, no program draws until this one ends. */
void status_line_stop(void);

#endif
