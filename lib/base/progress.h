/*
 * progress - how far a program is, on standard error: count and rate; where it is known how much
 * work there is, share and time left.
 *
 * A terminal has one line for all programs of a pipe (status_line.h), which is gone when the work
 * is done.  Elsewhere nothing is shown, under --progress whole lines, every five seconds and at
 * the end.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

struct progress;

/* total: units of work that there are, 0: that is not known. */
struct progress *progress_new(const char *unit, int64_t total);

/* The work is several files, one after another ("-": standard input), weighed by their sizes;
 * unknown where one is no regular file. */
struct progress *progress_files(const char *unit, char *const *paths, int count);

/* On to the next of them, at first to the first; nothing where there is but one. */
void progress_file(struct progress *progress);

/* The next `count` units bring the file at hand, or the whole, to this share, 0 to 1; below 0:
 * unknown.  (input_share) */
void progress_span(struct progress *progress, double share, int64_t count);
void progress_add(struct progress *progress, int64_t count);

/* Shown after the numbers, e.g. the loss. */
void progress_note(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Off the line until more is done: what is printed next may be for people. */
void progress_hide(struct progress *progress);
void progress_free(struct progress *progress);

/* Show whole lines though standard error is no terminal. */
void progress_force(void);

#endif
