/*
 * err - error messages and exits.  The library ends the program at the first error.
 *
 * A message is one line on standard error: "program: what is wrong; what to do".
 * It names its object first: "FILE:LINE: ..." or "STREAM: record N: ...".
 * Exit status: 0 success, 1 bad data or I/O, 2 usage.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum { EXIT_DATA = 1, EXIT_USAGE = 2 };

/* cli_start and cli_next set the first two. */
extern const char *program_name;
extern int verbosity; /* -1 quiet, 0 normal, 1 verbose */

/* The exit status of die: EXIT_DATA, or EXIT_USAGE if 1 is a result, as in cmp(1). */
extern int exit_failed;

/* Prints the message and exits with exit_failed.  If the format ends in ':', adds strerror(errno). */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the message and a hint to --help; exits 2. */
_Noreturn void die_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* die and die_usage call `act` once before they exit; NULL: no call. */
void before_death(void (*act)(void *context), void *context);

/* Prints "program: warning: ..."; nothing under --quiet. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints only under --verbose. */
void inform(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
