/*
 * status_line - the one line of the terminal behind standard error that the programs of a pipe show
 * their progress on.
 *
 * They agree by locks on the terminal itself, which end with the program: one at a time draws, and one
 * that knows how much work there is goes before the others.  None draws where results come to the
 * terminal, nor from the background.  A terminal that is "dumb" is taken for none.
 */
#ifndef BASE_STATUS_LINE_H
#define BASE_STATUS_LINE_H

#include <stdbool.h>

/* Whether there is such a line. */
bool status_line_there(void);

/* Whether this program may draw now; known: it knows how much work there is. */
bool status_line_mine(bool known);

/* In place of what is there, cut to the width that the terminal has now. */
void status_line_draw(const char *text);

/* Empty it, whosever it is: before words that are to stay. */
void status_line_clear(void);

/* Empty it where it is ours, and leave it to others. */
void status_line_leave(void);

/* Results come from now on; where they come to the terminal, nobody draws until this program ends. */
void status_line_stop(void);

#endif
