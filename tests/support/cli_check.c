/* cli_check - a program with every kind of option, which prints the values it got.  For tests. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/progress.h"

struct settings {
	int64_t number, bytes;
	float real;
	double pause;
	bool bar, unknown, resumed, say, command;
	const char *meet;
	struct cli_list names;
	int kind;
};

static const struct cli_option options[] = {
	{ 'n', "number", "N", "a whole number, 1..10", CLI_INTEGER(number, 1, 10) },
	{ 'r', "real", "X", "a number, 0..1\nand a second line", CLI_REAL(real, 0, 1) },
	{ 0, "bytes", "SIZE", "a size", CLI_BYTES(bytes) },
	{ 0, "name", "NAME", "a name; repeatable", CLI_LIST(names) },
	{ 0, "kind", "plain|fancy", "a word", CLI_WORD(kind, 1) },
	{ 0, "bar", NULL, "count to three", CLI_FLAG(bar) },
	{ 0, "unknown", NULL, "count, but nobody knows how far", CLI_FLAG(unknown) },
	{ 0, "resumed", NULL, "97 of 100 were counted before", CLI_FLAG(resumed) },
	{ 0, "pause", "SECONDS", "between two of them", CLI_REAL(pause, 0, 100) },
	{ 0, "meet", "FILE", "behind the second, make FILE.there and wait for FILE",
	    CLI_TEXT(meet) },
	{ 0, "say", NULL, "and warn behind the second", CLI_FLAG(say) },
	{ 0, "command", NULL, "print the command line", CLI_FLAG(command) }, { 0 }
};

static const char *
about(void)
{
	return "about";
}

static const struct cli cli = { "cli_check", "try options", "[OPTION]... [WORD]...",
	options, "  cli_check -n 3 word\n", about, NULL, NULL };

/* Creates a file to say that it runs, and waits for another. */
static void
wait_for(const char *file)
{
	char there[256];

	snprintf(there, sizeof there, "%s.there", file);
	close(open(there, O_CREAT | O_WRONLY, 0666));
	while (access(file, F_OK))
		usleep(10000);
}

static void
count(const struct settings *s)
{
	bool known = !s->unknown;
	struct progress *progress = known ? progress_new("steps", s->resumed ? 100 : 3)
					  : progress_new("texts", 0);

	if (s->resumed)
		progress_resume(progress, 97);
	for (int i = 0; i < 3; i++) {
		usleep((useconds_t)(1e6 * s->pause));
		progress_note(progress, "loss %d", i);
		progress_add(progress, known ? 1 : 50000);
		if (s->say && i == 1)
			warn("in the middle");
		if (s->meet && i == 1)
			wait_for(s->meet);
	}
	usleep((useconds_t)(1e6 * s->pause));
	progress_free(progress);
}

int
main(int argc, char **argv)
{
	struct settings s = { .number = -1, .bytes = -1, .real = -1 };

	cli_start(&cli, argc, argv);
	cli_next(&cli, argc, argv, &s);
	if (s.number >= 0)
		printf("number %lld\n", (long long)s.number);
	if (s.real >= 0)
		printf("real %g\n", s.real);
	if (s.bytes >= 0)
		printf("bytes %lld\n", (long long)s.bytes);
	for (int i = 0; i < s.names.count; i++)
		printf("name %s\n", s.names.items[i]);
	if (s.kind)
		printf("kind %d\n", s.kind);
	for (; optind < argc; optind++)
		printf("word %s\n", argv[optind]);
	if (s.command)
		puts(cli_command());
	warn("a warning");
	inform("a word");
	if (s.bar || s.unknown)
		count(&s);
	return 0;
}
