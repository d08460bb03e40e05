#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status_line.h"
#include "base/temporary.h"
#include "base/utf8.h"

const char *program_name = "motes";
int verbosity;
int exit_failed = EXIT_DATA;

/* One write per message: lines of several programs do not mix. */
static void
say(const char *kind, const char *format, va_list arguments)
{
	int saved = errno;
	char text[4096];
	size_t used = (size_t)snprintf(text, sizeof text, "%s: %s", program_name, kind);

	if (used < sizeof text)
		vsnprintf(text + used, sizeof text - used, format, arguments);
	size_t length = strlen(format);
	if (length && format[length - 1] == ':') {
		used = strlen(text);
		snprintf(text + used, sizeof text - used, " %s", strerror(saved));
	}
	utf8_plain(text);
	status_line_clear();
	fprintf(stderr, "%s\n", text);
}

static void (*last_act)(void *context);
static void *last_context;

void
before_death(void (*act)(void *context), void *context)
{
	last_act = act;
	last_context = context;
}

/* Calls the function of before_death, then exits without the leak check of AddressSanitizer: die frees nothing. */
static _Noreturn void
leave(int status)
{
	void (*act)(void *context) = last_act;

	last_act = NULL; /* act may call die itself */
	if (act)
		act(last_context);
	fflush(NULL);
	temporary_remove();
	_exit(status);
}

/* If several threads die at once, the first prints its message and the others wait for the exit. */
static void
be_first(void)
{
	static atomic_flag dies = ATOMIC_FLAG_INIT;
	static _Thread_local bool
	    mine; /* this thread is exiting: act may call die itself */

	while (!mine && atomic_flag_test_and_set(&dies))
		pause();
	mine = true;
}

void
die(const char *format, ...)
{
	va_list arguments;

	be_first();
	va_start(arguments, format);
	say("", format, arguments);
	va_end(arguments);
	leave(exit_failed);
}

void
die_usage(const char *format, ...)
{
	va_list arguments;

	be_first();
	va_start(arguments, format);
	say("", format, arguments);
	va_end(arguments);
	fprintf(stderr, "Try '%s --help'.\n", program_name);
	leave(EXIT_USAGE);
}

void
warn(const char *format, ...)
{
	va_list arguments;

	if (verbosity < 0)
		return;
	va_start(arguments, format);
	say("warning: ", format, arguments);
	va_end(arguments);
}

void
inform(const char *format, ...)
{
	va_list arguments;

	if (verbosity < 1)
		return;
	va_start(arguments, format);
	say("", format, arguments);
	va_end(arguments);
}
