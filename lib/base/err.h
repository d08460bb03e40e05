/*
 * err - the one error policy: a program is one filter, so the library may die.
 *
 * Messages are one line on standard error: "program: what is wrong; what to do".
 * A message names its object first: "FILE:LINE: ..." or "STREAM: record N: ...".
 * Exit status: 0 done, 1 failed (data or I/O), 2 usage.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum { EXIT_DATA = 1, EXIT_USAGE = 2 };

/* The only mutable globals of the suite; the first two are set by cli_start and cli_next. */
extern const char *program_name;
extern int verbosity; /* -1 quiet, 0 normal, 1 verbose */
extern int
    exit_failed; /* EXIT_DATA; EXIT_USAGE where 1 is an answer, as it is of cmp(1) */

/* Print and exit with exit_failed.  A format that ends in ':' is followed by strerror(errno). */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print, point to --help, exit 2. */
_Noreturn void die_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What die and die_usage do last, once; NULL: nothing. */
void before_death(void (*act)(void *context), void *context);

/* Print "program: warning: ..."; silent under --quiet. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print only under -v. */
void inform(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
