#include "base/cli.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/completion.h"
#include "base/err.h"
#include "base/help.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/progress.h"
#include "base/terminal.h"

enum { OPTIONS_MAX = 64, OPT_VERSION = 1, OPT_PROGRESS };

/* Kept from main for messages and the stream's history; never changed after. */
static char *command;
static bool given[OPTIONS_MAX]; /* by its place among the program's options */

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

static _Noreturn void
end_quietly(void)
{
	if (fflush(stdout) || ferror(stdout))
		die("standard output:");
	exit(0);
}

void
cli_start(const struct cli *cli, int argc, char **argv)
{
	program_name = cli->name;
	append_quoted(&command, cli->name);
	for (int i = 1; i < argc; i++)
		append_quoted(&command, argv[i]);
	signal(SIGPIPE, SIG_DFL); /* a reader that has enough ends us quietly */
	terminal_guard();
	if (argc == 2 && !strcmp(argv[1], "--completion")) {
		completion_print(cli);
		end_quietly();
	}
}

const char *
cli_command(void)
{
	return command;
}

/* Words. --------------------------------------------------------------------------- */

/* Letters that are added, missing, other or exchanged with their neighbour between two words. */
static int
distance(const char *a, const char *b)
{
	enum { LONGEST = 40 };
	int rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now_row = rows[2];
	int n = (int)strlen(b);

	if (strlen(a) > LONGEST || n > LONGEST)
		return LONGEST;
	for (int j = 0; j <= n; j++)
		last[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		now_row[0] = i;
		for (int j = 1; j <= n; j++) {
			int least = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < least)
				least = last[j] + 1;
			if (now_row[j - 1] + 1 < least)
				least = now_row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < least)
				least = before[j - 2] + 1;
			now_row[j] = least;
		}
		int *oldest = before;
		before = last;
		last = now_row;
		now_row = oldest;
	}
	return last[n];
}

/* "; did you mean 'head'?" where one of the words is near, else "". */
static char *
suggestion(const char *word, const char *const *words, const char *dashes)
{
	int nearest = ((int)strlen(word) + 1) / 3 + 1;
	const char *meant = NULL;

	for (; *words; words++) {
		int far = distance(word, *words);
		if (far < nearest) {
			nearest = far;
			meant = *words;
		}
	}
	return meant ? mem_format("; did you mean '%s%s'?", dashes, meant)
		     : mem_string("");
}

char *
cli_suggestion(const char *word, const char *const *words)
{
	return suggestion(word, words, "");
}

int
cli_word(const char *option, const char *word, const char *const *words)
{
	char *known = NULL;

	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	for (int i = 0; words[i]; i++)
		known = mem_list(known, words[i]);
	die_usage("%s: '%s' is not one of %s%s", option, word, known,
	    suggestion(word, words, ""));
}

/* Its place among the program's; none is a usage fault. */
static const struct cli_command *
named(const struct cli *cli, const char *word)
{
	const char *names[OPTIONS_MAX] = { NULL };
	char *known = NULL;
	int i;

	for (i = 0; cli->commands[i].name; i++) {
		names[i] = cli->commands[i].name;
		known = mem_list(known, names[i]);
	}
	if (!word)
		die_usage("what is to be done is missing; it is one of %s", known);
	for (i = 0; names[i] && strcmp(names[i], word) != 0; i++)
		;
	if (!names[i])
		die_usage(
		    "'%s' is not one of %s%s", word, known, suggestion(word, names, ""));
	free(known);
	return &cli->commands[i];
}

const struct cli_command *
cli_find(const struct cli *cli, int argc, char **argv)
{
	const struct cli_command *found = named(cli, argv[optind]);
	int dashes = 0, count = argc - optind - 1;

	cli_only(cli, found->name, found->options);
	if (count < found->least || (found->most >= 0 && count > found->most))
		die_usage("%s: too %s operands", found->name,
		    count < found->least ? "few" : "many");
	for (int j = optind + 1; j < argc; j++)
		dashes += !strcmp(argv[j], "-");
	if (dashes > 1)
		die_usage("%s: standard input can be read only once", found->name);
	return found;
}

/* Options. ------------------------------------------------------------------------- */

bool
cli_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

void
cli_only(const struct cli *cli, const char *mode, const char *known)
{
	for (int i = 0; cli->options[i].letter; i++)
		if (given[i] && !cli_listed(known, cli->options[i].name))
			die_usage("--%s says nothing to %s", cli->options[i].name, mode);
}

/* What getopt_long stumbled over; `letter` is ':' where a value is missing. */
static _Noreturn void
refuse(const struct option *longs, int letter, const char *word)
{
	const char *names[OPTIONS_MAX + 8] = { NULL };
	size_t length = strlen(word) > 2 ? strcspn(word + 2, "=") : 0;
	int matches = 0;

	for (int i = 0; longs[i].name; i++) {
		names[i] = longs[i].name;
		if (optopt && longs[i].val == optopt)
			die_usage("--%s %s", names[i],
			    letter == ':' ? "needs a value" : "takes no value");
		matches += !strncmp(names[i], word + 2, length);
	}
	if (optopt)
		die_usage("'-%c' is not an option", optopt);
	char *name = mem_format("%.*s", (int)length, word + 2);
	if (matches)
		die_usage("'--%s' may be several options; write it out", name);
	die_usage("'--%s' is not an option%s", name, suggestion(name, names, "--"));
}

/* Of the command among the operands, if there is one; getopt_long moves them behind the rest. */
static _Noreturn void
help(const struct cli *cli, int argc, char **argv, const char *shorts,
    const struct option *longs)
{
	while (getopt_long(argc, argv, shorts, longs, NULL) != -1)
		;
	help_print(cli, cli->commands && argv[optind] ? named(cli, argv[optind]) : NULL);
	end_quietly();
}

int
cli_next(const struct cli *cli, int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 8] = { { 0 } };
	char shorts[2 * OPTIONS_MAX + 16] = ":", *s = shorts + 1;
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
	int own = n;
	strcpy(s, "qvh");
	longs[n++] = (struct option){ "quiet", no_argument, NULL, 'q' };
	longs[n++] = (struct option){ "verbose", no_argument, NULL, 'v' };
	longs[n++] = (struct option){ "help", no_argument, NULL, 'h' };
	longs[n++] = (struct option){ "progress", no_argument, NULL, OPT_PROGRESS };
	longs[n++] = (struct option){ "version", no_argument, NULL, OPT_VERSION };
	opterr = 0; /* a word of the command line must not drive the terminal */
	for (;;) {
		int letter = getopt_long(argc, argv, shorts, longs, NULL);
		switch (letter) {
		case 'q': verbosity = -1; break;
		case 'v': verbosity = 1; break;
		case 'h': help(cli, argc, argv, shorts, longs);
		case OPT_PROGRESS: progress_force(); break;
		case OPT_VERSION:
			printf("%s (motes) %s\n", cli->name, MOTES_VERSION);
			if (cli->about)
				printf("%s\n", cli->about());
			end_quietly();
		case ':':
		case '?': refuse(longs, letter, argv[optind - 1]);
		default:
			for (int i = 0; i < own; i++)
				given[i] |= longs[i].val == letter;
			return letter;
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

int
cli_integers(const char *option, int64_t least, int64_t most, int64_t *to, int room)
{
	const char *at = optarg;

	for (int count = 0; count < room; at++) {
		size_t length = strcspn(at, ",");
		if (!number_read_whole(at, length, &to[count]) || to[count] < least ||
		    to[count] > most)
			break;
		count++;
		at += length;
		if (!*at)
			return count;
	}
	die_usage(
	    "%s: '%s' is not a list of whole numbers in %lld..%lld, commas between, "
	    "at most %d",
	    option, optarg, (long long)least, (long long)most, room);
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
