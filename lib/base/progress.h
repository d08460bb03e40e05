/*
 * progress - reports progress on standard error: count and rate; share and time left if the total is known.
 *
 * On a terminal the programs of a pipe share one line (status_line.h), which disappears at the end.  Elsewhere nothing
 * is shown; with --progress a whole line every five seconds and at the end.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

struct progress;

/* total: units of work; 0: unknown. */
struct progress *progress_new(const char *unit, int64_t total);

/* The work is reading these files in order ("-": standard input), weighted by size.  The total is unknown if one of
 * them is not a regular file. */
struct progress *progress_files(const char *unit, char *const *paths, int count);

/* Starts the next file; the first call starts the first.  No effect if there is only one. */
void progress_file(struct progress *progress);

/* After the next `count` units this share of the current file, or of the work, is done: 0 to 1; below 0: unknown
 * (input_share). */
void progress_span(struct progress *progress, double share, int64_t count);
void progress_add(struct progress *progress, int64_t count);

/* An earlier run did `count` units of a known total: rate and time left are those of this run. */
void progress_resume(struct progress *progress, int64_t count);

/* Shows a text after the numbers, such as the loss. */
void progress_note(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Clears the line until the next progress_add: call before printing results. */
void progress_hide(struct progress *progress);
void progress_free(struct progress *progress);

/* Turns on whole lines where standard error is not a terminal (--progress). */
void progress_force(void);

#endif
