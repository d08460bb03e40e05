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
#include "base/utf8.h"

enum { OPTIONS_MAX = 64, OPT_VERSION = 1, OPT_PROGRESS };
enum {
	LONG_ONLY = 1000
}; /* getopt's value of option i without a letter: LONG_ONLY + i */

/* Spellings of version 0.1, letters or long names, to be removed in 0.3. */
static const struct renamed {
	const char *program, *old, *now;
} renamed[] = {
	{ "encode", "lora", "adapter" },
	{ "geom", "rate", "lr" },
	{ "geom", "steps", "flow-steps" },
	{ "leaderboard", "task", "dataset" },
	{ "leaderboard", "r", "registry" },
	{ "leaderboard", "per-query", "from-per-query" },
	{ "mteb-score", "documents", "max-documents" },
	{ "mts", "batch", "record-rows" },
	{ "mts", "b", "record-rows" },
	{ "mts", "show", "count" },
	{ "mts", "absolute", "atol" },
	{ "mts", "a", "atol" },
	{ "mts", "relative", "rtol" },
	{ "mts", "r", "rtol" },
	{ "near", "text", "texts" },
	{ "reze-stats", "rank", "eigenvectors" },
	{ "reze-stats", "components", "each-component" },
	{ "tasksample", "n", "batch" },
	{ "tok", "rows", "record-rows" },
	{ "tok", "train", "learn" },
	{ "topics", "top", "words" },
	{ "topics", "n", "words" },
	{ "train", "epsilon", "eps" },
	{ "upcycle", "top", "token-top" },
	{ "upcycle", "e", "experts" },
};
enum { RENAMED_COUNT = sizeof renamed / sizeof *renamed };

/* Set once by cli_start, for messages and the history of streams. */
static char *command;
static bool given[OPTIONS_MAX]; /* by index into cli->options */

static void
append_quoted(char **text, const char *word)
{
	const char *plain =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
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

/* A file's name may have any bytes, and the history that it becomes part of is JSON. */
static char *
valid(char *text)
{
	size_t length = strlen(text);
	int64_t count = 0;
	char *repaired = mem_new(mem_multiply(length + 1, 3, "the command line"), 1);

	repaired[utf8_repair(repaired, text, length, &count)] = 0;
	free(text);
	return repaired;
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
	command = valid(command);
	signal(SIGPIPE,
	    SIG_DFL); /* a reader that closes its pipe ends the program without a message */
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

/* Edit distance of two words: insertions, deletions, substitutions, exchanges of neighbours. */
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

/* The command of this name; a usage error if there is none. */
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
		die_usage("the command is missing; it is one of %s", known);
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
	int count = argc - optind - 1;

	cli_only(cli, found->name, found->options);
	if (count < found->least || (found->most >= 0 && count > found->most))
		die_usage("%s: too %s operands", found->name,
		    count < found->least ? "few" : "many");
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
cli_apart(const char *const *pairs)
{
	for (const char *const *one = pairs; *one; one += 2)
		for (const char *const *two = one + 2; *two; two += 2)
			if (one[1] && two[1] && !strcmp(one[1], two[1]))
				die_usage("--%s and --%s cannot both go to '%s'", *one,
				    *two, one[1]);
}

void
cli_only(const struct cli *cli, const char *mode, const char *known)
{
	for (int i = 0; cli->options[i].name; i++)
		if (given[i] && !cli_listed(known, cli->options[i].name))
			die_usage(
			    "--%s does not apply to %s", cli->options[i].name, mode);
}

/* Reports an option that getopt_long refused; letter ':': its value is missing. */
static _Noreturn void
refuse(const struct option *longs, int letter, const char *word)
{
	const char *names[OPTIONS_MAX + RENAMED_COUNT + 8] = { NULL };
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

/* Prints the help of the command among the operands, or of the program.  getopt_long moves operands to the end. */
static _Noreturn void
help(const struct cli *cli, int argc, char **argv, const char *shorts,
    const struct option *longs)
{
	while (getopt_long(argc, argv, shorts, longs, NULL) != -1)
		;
	help_print(cli, cli->commands && argv[optind] ? named(cli, argv[optind]) : NULL);
	end_quietly();
}

/* The options as getopt_long takes them. */
struct spellings {
	struct option longs[OPTIONS_MAX + RENAMED_COUNT + 8];
	char shorts[2 * (OPTIONS_MAX + RENAMED_COUNT) + 16];
	int count;
};

static void
spell(struct spellings *to, int letter, const char *name, bool argument)
{
	size_t end = strlen(to->shorts);

	if (*name)
		to->longs[to->count++] = (struct option){ name,
			argument ? required_argument : no_argument, NULL, letter };
	if (letter > ' ' && letter < CLI_LONG)
		snprintf(to->shorts + end, sizeof to->shorts - end, "%c%s", letter,
		    argument ? ":" : "");
}

/* The option that an entry of `renamed` stands for; NULL if it is another program's. */
static const struct cli_option *
now_of(const struct cli *cli, const struct renamed *r)
{
	const struct cli_option *o = cli->options;

	if (strcmp(r->program, cli->name))
		return NULL;
	while (o->name && strcmp(o->name, r->now) != 0)
		o++;
	return o->name ? o : NULL;
}

static void
spell_all(struct spellings *to, const struct cli *cli)
{
	strcpy(to->shorts, ":");
	for (int i = 0; cli->options[i].name; i++) {
		const struct cli_option *o = &cli->options[i];
		bool letter = o->letter && o->letter < CLI_LONG;
		if (o->letter != CLI_HEADING)
			spell(
			    to, letter ? o->letter : LONG_ONLY + i, o->name, o->argument);
	}
	spell(to, 'q', "quiet", false);
	spell(to, 'v', "verbose", false);
	spell(to, 'h', "help", false);
	spell(to, OPT_PROGRESS, "progress", false);
	spell(to, OPT_VERSION, "version", false);
	for (int i = 0; i < RENAMED_COUNT; i++) {
		const struct cli_option *now = now_of(cli, &renamed[i]);
		bool letter = !renamed[i].old[1];
		if (now && letter)
			spell(to, renamed[i].old[0], "", now->argument);
		else if (now)
			spell(to, -2 - i, renamed[i].old, now->argument);
	}
}

/* The option of getopt's value, or of an earlier spelling. */
static const struct cli_option *
option_of(const struct cli *cli, int letter)
{
	const struct cli_option *o = cli->options;

	for (int i = 0; i < RENAMED_COUNT; i++) {
		const struct renamed *r = &renamed[i];
		const struct cli_option *now = now_of(cli, r);
		bool named_so = letter == -2 - i;
		if (!now || !(named_so || (!r->old[1] && letter == r->old[0])))
			continue;
		warn("%s%s is --%s since version 0.2; the old spelling goes with 0.3",
		    named_so ? "--" : "-", r->old, r->now);
		return now;
	}
	if (letter >= LONG_ONLY)
		return &o[letter - LONG_ONLY];
	while (o->letter != letter)
		o++;
	return o;
}

static void
store_integer(void *to, size_t size, int64_t value)
{
	if (size == sizeof(bool))
		*(bool *)to = value;
	else if (size == sizeof(int32_t))
		*(int32_t *)to = (int32_t)value;
	else
		*(int64_t *)to = value;
}

static void
store_real(void *to, size_t size, double value)
{
	if (size == sizeof(float))
		*(float *)to = (float)value;
	else
		*(double *)to = value;
}

static void
add_to_list(struct cli_list *list)
{
	list->items =
	    mem_resize(list->items, (size_t)list->count + 2, sizeof *list->items);
	list->items[list->count++] = optarg;
	list->items[list->count] = NULL;
}

/* The place of optarg among words with bars between. */
static int
word_among(const char *option, const char *words)
{
	enum { WORDS = 16 };
	char *copy = mem_string(words);
	const char *list[WORDS + 1] = { NULL };
	int count = 0;

	for (char *at = strtok(copy, "|"); at && count < WORDS; at = strtok(NULL, "|"))
		list[count++] = at;
	int found = cli_word(option, optarg, list);
	free(copy);
	return found;
}

/* An empty path is often that of an unset variable; it would be noticed only when the work is done. */
static void
check_path(const char *flag, const char *argument)
{
	if (argument && !*optarg &&
	    (!strcmp(argument, "FILE") || !strcmp(argument, "DIR") ||
		!strcmp(argument, "SOCKET")))
		die_usage("%s: the name is empty; is a variable not set?", flag);
}

/* optarg as a number of bytes: 512M, 2G, 100000. */
static int64_t
read_bytes(const char *option)
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

/* Stores optarg in the option's member of the settings. */
static void
take(const struct cli_option *o, void *settings)
{
	const struct cli_value *v = &o->value;
	char *flag = mem_format("--%s", o->name);
	void *to = (char *)settings + v->offset;

	check_path(flag, o->argument);
	switch (v->kind) {
	case CLI_KIND_CUSTOM: break;
	case CLI_KIND_SET: store_integer(to, v->size, v->least); break;
	case CLI_KIND_TEXT: *(const char **)to = optarg; break;
	case CLI_KIND_LIST: add_to_list(to); break;
	case CLI_KIND_INTEGER:
		store_integer(to, v->size, cli_integer(flag, v->least, v->most));
		break;
	case CLI_KIND_REAL:
		store_real(to, v->size, cli_real(flag, v->low, v->high));
		break;
	case CLI_KIND_BYTES: store_integer(to, v->size, read_bytes(flag)); break;
	case CLI_KIND_WORD:
		store_integer(to, v->size, v->least + word_among(flag, o->argument));
		break;
	}
	free(flag);
}

/* Fails before any work; input_open would find out when it comes to the second. */
static void
check_operands(int argc, char **argv)
{
	int count = 0;

	for (int i = optind; i < argc; i++)
		count += !strcmp(argv[i], "-");
	if (count > 1)
		die_usage("standard input can be read only once");
}

int
cli_next(const struct cli *cli, int argc, char **argv, void *settings)
{
	struct spellings to = { 0 };
	const struct cli_option *option;

	spell_all(&to, cli);
	opterr = 0; /* a word of the command line must not drive the terminal */
	for (;;) {
		int letter = getopt_long(argc, argv, to.shorts, to.longs, NULL);
		switch (letter) {
		case -1: check_operands(argc, argv); return -1;
		case 'q': verbosity = -1; break;
		case 'v': verbosity = 1; break;
		case 'h': help(cli, argc, argv, to.shorts, to.longs);
		case OPT_PROGRESS: progress_force(); break;
		case OPT_VERSION:
			printf("%s (motes) %s\n", cli->name, MOTES_VERSION);
			if (cli->about)
				printf("%s\n", cli->about());
			end_quietly();
		case ':':
		case '?': refuse(to.longs, letter, argv[optind - 1]);
		default:
			option = option_of(cli, letter);
			given[option - cli->options] = true;
			if (option->value.kind == CLI_KIND_CUSTOM)
				return option->letter;
			take(option, settings);
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
	    "%s: '%s' is not a list of whole numbers in %lld..%lld, commas between, at most %d",
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

const char *
cli_input(int argc, char **argv)
{
	if (argc - optind > 1)
		die_usage("one input at a time; '%s' is the second", argv[optind + 1]);
	return optind < argc ? argv[optind] : "-";
}

const char *const *
cli_inputs(char *const *operands, int *count)
{
	static const char *const standard[] = { "-" };

	if (*count)
		return (const char *const *)operands;
	*count = 1;
	return standard;
}
