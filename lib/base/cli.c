#include "base/cli.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"

enum { OPTIONS_MAX = 64, OPT_VERSION = 1, OPT_PROGRESS };

/* Kept from main for messages and the stream's history; never changed after. */
static char *command;
static bool progress_forced;

static void
append_quoted(char **text, const char *word)
{
	const char *plain =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "-_=+.,:/@%";
	size_t length = *text ? strlen(*text) : 0;
	char *to = *text = mem_resize(*text, length + 4 * strlen(word) + 4, 1);

	to += length;
	if (length)
		*to++ = ' ';
	if (*word && strspn(word, plain) == strlen(word)) {
		strcpy(to, word);
		return;
	}
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = *word;
		}
	}
	strcpy(to, "'");
}

void
cli_start(const struct cli *cli, int argc, char **argv)
{
	program_name = cli->name;
	append_quoted(&command, cli->name);
	for (int i = 1; i < argc; i++)
		append_quoted(&command, argv[i]);
	signal(SIGPIPE, SIG_DFL); /* a reader that has enough ends us quietly */
}

const char *
cli_command(void)
{
	return command;
}

static void
help_line(int letter, const char *name, const char *argument, const char *help)
{
	char left[64];
	char letter_text[] = { '-', (char)letter, ',', ' ', 0 };

	snprintf(left, sizeof left, "  %s--%s%s%s",
	    letter < CLI_LONG ? letter_text : "    ", name, argument ? " " : "",
	    argument ? argument : "");
	/* continuation lines of a help text are indented to its column */
	printf("%-30s", left);
	if (strlen(left) > 29)
		printf("\n%30s", "");
	for (; *help; help++) {
		putchar(*help);
		if (*help == '\n')
			printf("%30s", "");
	}
	putchar('\n');
}

static _Noreturn void
end_quietly(void)
{
	if (fflush(stdout) || ferror(stdout))
		die("standard output:");
	exit(0);
}

static void
help(const struct cli *cli)
{
	printf("%s - %s\n\nUsage: %s %s\n\n", cli->name, cli->purpose, cli->name,
	    cli->synopsis);
	for (const struct cli_option *o = cli->options; o->letter; o++)
		help_line(o->letter, o->name, o->argument, o->help);
	help_line(CLI_LONG, "progress", NULL,
	    "show progress even when standard error is no terminal");
	help_line('q', "quiet", NULL, "no progress, no warnings");
	help_line('v', "verbose", NULL, "say what was done");
	help_line('h', "help", NULL, "this text");
	help_line(CLI_LONG, "version", NULL, "version");
	if (cli->examples)
		printf("\nExamples:\n%s", cli->examples);
	end_quietly();
}

int
cli_next(const struct cli *cli, int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 8] = { { 0 } };
	char shorts[2 * OPTIONS_MAX + 16] = "", *s = shorts;
	int n = 0;

	for (const struct cli_option *o = cli->options; o->letter && n < OPTIONS_MAX;
	     o++) {
		longs[n++] = (struct option){ o->name,
			o->argument ? required_argument : no_argument, NULL, o->letter };
		if (o->letter < CLI_LONG) {
			*s++ = (char)o->letter;
			if (o->argument)
				*s++ = ':';
		}
	}
	strcpy(s, "qvh");
	longs[n++] = (struct option){ "quiet", no_argument, NULL, 'q' };
	longs[n++] = (struct option){ "verbose", no_argument, NULL, 'v' };
	longs[n++] = (struct option){ "help", no_argument, NULL, 'h' };
	longs[n++] = (struct option){ "progress", no_argument, NULL, OPT_PROGRESS };
	longs[n++] = (struct option){ "version", no_argument, NULL, OPT_VERSION };
	argv[0] = (char *)cli->name; /* getopt's messages begin with it */
	for (;;) {
		int letter = getopt_long(argc, argv, shorts, longs, NULL);
		switch (letter) {
		case 'q': verbosity = -1; break;
		case 'v': verbosity = 1; break;
		case 'h': help(cli); break;
		case OPT_PROGRESS: progress_forced = true; break;
		case OPT_VERSION:
			printf("%s (motes) %s\n", cli->name, MOTES_VERSION);
			if (cli->about)
				printf("%s\n", cli->about());
			end_quietly();
		case '?':
			fprintf(stderr, "Try '%s --help'.\n", cli->name);
			exit(EXIT_USAGE);
		default: return letter;
		}
	}
}

int64_t
cli_integer(const char *option, int64_t least, int64_t most)
{
	char *end;

	errno = 0;
	long long value = strtoll(optarg, &end, 10);
	if (end == optarg || *end || errno || value < least || value > most)
		die_usage("%s: '%s' is not a whole number in %lld..%lld", option, optarg,
		    (long long)least, (long long)most);
	return value;
}

double
cli_real(const char *option, double least, double most)
{
	double value;

	if (!number_read(optarg, strlen(optarg), &value) || value < least || value > most)
		die_usage(
		    "%s: '%s' is not a number in %g..%g", option, optarg, least, most);
	return value;
}

int64_t
cli_bytes(const char *option)
{
	static const char units[] = "kmgt";
	char *end;

	errno = 0;
	long long value = strtoll(optarg, &end, 10);
	const char *unit = *end ? strchr(units, *end | 32) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	if (end == optarg || errno || value <= 0 || (*end && (!unit || end[1])) ||
	    value > INT64_MAX >> shift)
		die_usage("%s: '%s' is not a size such as 512M or 2G", option, optarg);
	return value << shift;
}

struct progress {
	const char *unit;
	int64_t total, done;
	double start, drawn;
	char note[64];
	bool shown;
};

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct progress *
progress_new(const char *unit, int64_t total)
{
	struct progress *progress = mem_zero(1, sizeof *progress);

	progress->unit = unit;
	progress->total = total;
	progress->start = progress->drawn = now();
	progress->shown = verbosity >= 0 && (progress_forced || isatty(STDERR_FILENO));
	return progress;
}

static void
draw(struct progress *progress, double time)
{
	double seconds = time - progress->start + 1e-9,
	       rate = (double)progress->done / seconds;
	char line[200];
	int n = snprintf(
	    line, sizeof line, "%s: %lld", program_name, (long long)progress->done);

	if (progress->total) {
		double share = (double)progress->done / (double)progress->total;
		long left = share > 0 ? (long)(seconds / share - seconds + 0.5) : 0;
		n += snprintf(line + n, sizeof line - (size_t)n,
		    "/%lld %s  %3.0f%%  %.3g/s  %ld:%02ld left",
		    (long long)progress->total, progress->unit, 100 * share, rate,
		    left / 60, left % 60);
	} else {
		n += snprintf(line + n, sizeof line - (size_t)n, " %s  %.3g/s  %ld:%02ld",
		    progress->unit, rate, (long)seconds / 60, (long)seconds % 60);
	}
	if (progress->note[0])
		snprintf(line + n, sizeof line - (size_t)n, "  %s", progress->note);
	/* a terminal's line is redrawn; a log gets whole lines */
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%.*s\033[K", 150, line);
	else
		fprintf(stderr, "%s\n", line);
	progress->drawn = time;
}

void
progress_add(struct progress *progress, int64_t count)
{
	progress->done += count;
	if (!progress->shown)
		return;
	double time = now();
	if (time - progress->drawn > (isatty(STDERR_FILENO) ? 0.1 : 5))
		draw(progress, time);
}

void
progress_note(struct progress *progress, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(progress->note, sizeof progress->note, format, arguments);
	va_end(arguments);
}

void
progress_free(struct progress *progress)
{
	if (!progress)
		return;
	if (progress->shown) {
		draw(progress, now());
		if (isatty(STDERR_FILENO))
			fputc('\n', stderr);
	}
	inform("%lld %s, %.2f s", (long long)progress->done, progress->unit,
	    now() - progress->start);
	free(progress);
}
