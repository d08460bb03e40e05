/* cli_check - a program with every kind of option, which prints the values it got.  For tests. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/progress.h"

enum {
	OPT_BYTES = CLI_LONG,
	OPT_BAR,
	OPT_UNKNOWN,
	OPT_PAUSE,
	OPT_MEET,
	OPT_SAY,
	OPT_COMMAND
};

static const struct cli_option options[] = { { 'n', "number", "N",
						 "a whole number, 1..10" },
	{ 'r', "real", "X", "a number, 0..1\nand a second line" },
	{ OPT_BYTES, "bytes", "SIZE", "a size" },
	{ OPT_BAR, "bar", NULL, "count to three" },
	{ OPT_UNKNOWN, "unknown", NULL, "count, but nobody knows how far" },
	{ OPT_PAUSE, "pause", "SECONDS", "between two of them" },
	{ OPT_MEET, "meet", "FILE",
	    "behind the second, make FILE.there and wait for FILE" },
	{ OPT_SAY, "say", NULL, "and warn behind the second" },
	{ OPT_COMMAND, "command", NULL, "print the command line" }, { 0 } };

static const char *
about(void)
{
	return "about";
}

static const struct cli cli = { "cli_check", "try options", "[OPTION]... [WORD]...",
	options, "  cli_check -n 3 word\n", about, NULL, NULL };

/* Says by a file that it is there, and waits for another. */
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
count(bool known, double pause, bool say, const char *meet)
{
	struct progress *progress =
	    known ? progress_new("steps", 3) : progress_new("texts", 0);

	for (int i = 0; i < 3; i++) {
		usleep((useconds_t)(1e6 * pause));
		progress_note(progress, "loss %d", i);
		progress_add(progress, known ? 1 : 50000);
		if (say && i == 1)
			warn("in the middle");
		if (meet && i == 1)
			wait_for(meet);
	}
	usleep((useconds_t)(1e6 * pause));
	progress_free(progress);
}

int
main(int argc, char **argv)
{
	int opt;
	bool bar = false, unknown = false, say = false, command = false;
	double pause = 0;
	const char *meet = NULL;

	cli_start(&cli, argc, argv);
	while ((opt = cli_next(&cli, argc, argv)) != -1)
		switch (opt) {
		case 'n':
			printf(
			    "number %lld\n", (long long)cli_integer("--number", 1, 10));
			break;
		case 'r': printf("real %g\n", cli_real("--real", 0, 1)); break;
		case OPT_BYTES:
			printf("bytes %lld\n", (long long)cli_bytes("--bytes"));
			break;
		case OPT_BAR: bar = true; break;
		case OPT_UNKNOWN: unknown = true; break;
		case OPT_SAY: say = true; break;
		case OPT_PAUSE: pause = cli_real("--pause", 0, 100); break;
		case OPT_MEET: meet = optarg; break;
		case OPT_COMMAND: command = true; break;
		}
	for (; optind < argc; optind++)
		printf("word %s\n", argv[optind]);
	if (command)
		puts(cli_command());
	warn("a warning");
	inform("a word");
	if (bar || unknown)
		count(!unknown, pause, say, meet);
	return 0;
}
