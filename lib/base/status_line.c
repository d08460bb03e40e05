#include "base/status_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"

/* Byte offsets of the terminal device; a program locks one to hold that right. */
enum right { DRAW_KNOWN, DRAW, RESULTS, RIGHTS };

static bool drawn;   /* this program drew the line last */
static bool stopped; /* fcntl does not report a process's own locks */

static struct flock
lock_of(enum right right, int type)
{
	return (struct flock){
		.l_type = (short)type, .l_whence = SEEK_SET, .l_start = right, .l_len = 1
	};
}

/* If the terminal cannot be locked, every program may draw. */
static bool
take(enum right right)
{
	struct flock lock = lock_of(right, F_WRLCK);

	return !fcntl(STDERR_FILENO, F_SETLK, &lock) ||
	       (errno != EAGAIN && errno != EACCES);
}

static void
give_up(enum right right)
{
	struct flock lock = lock_of(right, F_UNLCK);

	(void)fcntl(STDERR_FILENO, F_SETLK, &lock);
}

/* Whether another program holds the right. */
static bool
is_taken(enum right right)
{
	struct flock lock = lock_of(right, F_WRLCK);

	return !fcntl(STDERR_FILENO, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

bool
status_line_there(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDERR_FILENO) && (!kind || strcmp(kind, "dumb") != 0);
}

bool
status_line_mine(bool known)
{
	pid_t front = tcgetpgrp(STDERR_FILENO);
	bool mine = !stopped && (front < 0 || front == getpgrp()) && !is_taken(RESULTS) &&
		    (known ? take(DRAW_KNOWN) : !is_taken(DRAW_KNOWN) && take(DRAW));

	drawn &= mine; /* the holder overwrites our line */
	return mine;
}

void
status_line_draw(const char *text)
{
	int width = terminal_width(STDERR_FILENO) - 1; /* the last column may wrap */

	drawn = true;
	fprintf(stderr, "\r%.*s\033[K", width > 0 ? width : 0, text);
}

void
status_line_clear(void)
{
	if (!status_line_there() || !(drawn || is_taken(DRAW_KNOWN) || is_taken(DRAW)))
		return;
	drawn = false;
	fputs("\r\033[K", stderr);
}

void
status_line_leave(void)
{
	if (drawn && !is_taken(RESULTS)) /* else results may have overwritten the line */
		status_line_clear();
	drawn = false;
	give_up(DRAW_KNOWN);
	give_up(DRAW);
}

void
status_line_stop(void)
{
	if (stopped || !status_line_there() || !isatty(STDOUT_FILENO))
		return;
	take(RESULTS);
	status_line_clear();
	stopped = true;
}
