/*
 * mts - look at, cut, join, compare and convert tensor streams
 *
 * reads	any columns
 * writes	cat: those kept; paste: those of all streams; from: those of the file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "mts/cat.h"
#include "mts/diff.h"
#include "mts/from.h"
#include "mts/head.h"
#include "mts/paste.h"
#include "mts/stat.h"
#include "mts/to.h"
#include "stream/stream.h"
#include "text/datafile.h"

enum { OPT_RENAME = CLI_LONG, OPT_LEVEL, OPT_NUMBERS, OPT_MAX_LINE };

static const struct cli_option options[] = { { 'n', "rows", "N",
						 "head: rows to show (default: 5)" },
	{ 'a', "absolute", "X", "diff: allowed |x - y|, plus (default: 0)" },
	{ 'r', "relative", "X", "diff: this times |y| (default: 0)" },
	{ 'c', "columns", "NAME,...",
	    "cat, to: the columns to keep, may be repeated (default: all);\n"
	    "from npy: the column's name (default: emb);\n"
	    "from safetensors: the tensors to take" },
	{ OPT_RENAME, "rename", "OLD=NEW",
	    "cat: call a column otherwise, may be repeated" },
	{ 'b', "batch", "ROWS", "from: rows of a record (default: 1024)" },
	{ OPT_NUMBERS, "numbers", "NAME,...",
	    "from tsv, csv, jsonl: the columns whose text is numbers, may be repeated" },
	{ OPT_MAX_LINE, "max-line", "BYTES",
	    "from tsv, csv, jsonl: refuse longer lines (default: 64M)" },
	{ OPT_LEVEL, "level", "N",
	    "cat, paste, from: zstd level 1 to 19, or 0: store (default:\n0 into a pipe, "
	    "else 3)" },
	{ 'o', "output", "FILE",
	    "cat, paste, to, from: write FILE (default: standard output)" },
	{ 0 } };

static const struct cli cli = { "mts",
	"look at, cut, join, compare and convert tensor streams",
	"head [-n N] [FILE]\n"
	"       mts stat [FILE]\n"
	"       mts cat [-c NAME,...] [--rename OLD=NEW]... [FILE]...\n"
	"       mts paste FILE FILE...\n"
	"       mts diff [-a X] [-r X] FILE FILE\n"
	"       mts to npy|safetensors|jsonl|tsv [-c NAME,...] [FILE]\n"
	"       mts from npy|safetensors|jsonl|tsv|csv [-b ROWS] [FILE]",
	options,
	"  tok -m DIR text.jsonl | encode -m DIR | mts head\n"
	"  mts diff -a 1e-5 -r 1e-4 old.mts new.mts\n"
	"  mts to npy -c text.emb x.mts > x.npy\n",
	NULL };

struct settings {
	int64_t show, rows, max_line;
	double absolute, relative;
	struct selection selection;
	struct names numbers;
	int level; /* -1: the default */
	const char *output;
	char given[32]; /* letters of the options given, as in `allowed` */
};

/* How `allowed` and `given` write an option. */
static char
letter_of(int option)
{
	return option == OPT_RENAME	? 'R'
	       : option == OPT_LEVEL	? 'L'
	       : option == OPT_NUMBERS	? 'N'
	       : option == OPT_MAX_LINE ? 'M'
					: (char)option;
}

static void
refuse_others(const struct settings *settings, const char *command, const char *allowed)
{
	char other = settings->given[strspn(settings->given, allowed)];

	for (const struct cli_option *option = options; other && option->letter; option++)
		if (letter_of(option->letter) == other)
			die_usage("%s: --%s says nothing there", command, option->name);
}

static int
head(struct settings *settings, char **files, int count)
{
	struct reader *reader = stream_open(count ? files[0] : "-");

	head_header(reader);
	head_rows(reader, settings->show);
	stream_close(reader);
	return 0;
}

static int
stat_stream(struct settings *settings, char **files, int count)
{
	struct reader *reader = stream_open(count ? files[0] : "-");

	(void)settings;
	head_header(reader);
	stat_print(reader);
	stream_close(reader);
	return 0;
}

static int
cat(struct settings *settings, char **files, int count)
{
	char dash[] = "-", *standard[] = { dash };

	cat_streams(count ? files : standard, count ? count : 1, &settings->selection,
	    settings->output, settings->level);
	return 0;
}

static int
paste(struct settings *settings, char **files, int count)
{
	paste_streams(files, count, settings->output, settings->level);
	return 0;
}

static int
diff(struct settings *settings, char **files, int count)
{
	exit_failed = EXIT_USAGE; /* 1 says that they differ */
	struct reader *one = stream_open(files[0]), *two = stream_open(files[1]);
	bool same = diff_streams(one, two, settings->absolute, settings->relative);

	(void)count;
	stream_close(one);
	stream_close(two);
	return same ? 0 : EXIT_DATA;
}

static int
to(struct settings *settings, char **files, int count)
{
	static const struct {
		const char *name;
		void (*write)(struct reader *, const char *const *, int, const char *);
	} formats[] = { { "npy", to_npy }, { "safetensors", to_safetensors },
		{ "jsonl", to_jsonl }, { "tsv", to_tsv } };
	const struct names *kept = &settings->selection.kept;

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(files[0], formats[i].name)) {
			struct reader *reader = stream_open(count > 1 ? files[1] : "-");
			formats[i].write(
			    reader, kept->items, kept->count, settings->output);
			stream_close(reader);
			return 0;
		}
	die_usage("to: '%s' is not npy, safetensors, jsonl or tsv", files[0]);
}

static int
from(struct settings *settings, char **files, int count)
{
	const struct names *kept = &settings->selection.kept,
			   *numbers = &settings->numbers;
	const char *format = files[0], *file = count > 1 ? files[1] : "-";
	static const char *const formats[] = { "npy", "safetensors", "jsonl", "tsv",
		"csv", NULL };
	const char *const *known = formats;

	while (*known && strcmp(format, *known))
		known++;
	if (!*known)
		die_usage(
		    "from: '%s' is not npy, safetensors, jsonl, tsv or csv", format);
	refuse_others(settings, format, known - formats < 2 ? "cbLo" : "bMNLo");
	if (*format == 's' && !strcmp(file, "-"))
		die_usage("from: a safetensors file is mapped into memory: name it");
	struct writer *writer = stream_create(settings->output, NULL);
	if (settings->level >= 0)
		stream_level(writer, settings->level);
	if (*format == 'n')
		from_npy(
		    file, kept->count ? kept->items[0] : "emb", settings->rows, writer);
	else if (*format == 's')
		from_safetensors(file, kept->items, kept->count, settings->rows, writer);
	else {
		struct datafile *text =
		    datafile_open(file, datafile_parse("from", format));
		datafile_max_line(text, settings->max_line);
		from_text(text, numbers->items, numbers->count, settings->rows, writer);
	}
	stream_finish(writer);
	return 0;
}

static const struct command {
	const char *name, *allowed; /* as letter_of writes them */
	int least, most;	    /* operands; most 0: any number */
	int (*run)(struct settings *settings, char **files, int count);
} commands[] = { { "head", "n", 0, 1, head }, { "stat", "", 0, 1, stat_stream },
	{ "cat", "cRLo", 0, 0, cat }, { "paste", "Lo", 2, 0, paste },
	{ "diff", "ar", 2, 2, diff }, { "to", "co", 1, 2, to },
	{ "from", "cbMNLo", 1, 2, from } };

static void
add(struct names *names, const char *name)
{
	names->items =
	    mem_resize(names->items, (size_t)names->count + 1, sizeof *names->items);
	names->items[names->count++] = name;
}

static void
add_all(struct names *names, char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ","))
		add(names, name);
}

static void
add_rename(struct names *renames, const char *rename)
{
	if (!strchr(rename, '='))
		die_usage("--rename: '%s' is not OLD=NEW", rename);
	add(renames, rename);
}

static void
parse(struct settings *settings, int argc, char **argv)
{
	int option;

	while ((option = cli_next(&cli, argc, argv)) != -1) {
		char letter = letter_of(option);
		if (!strchr(settings->given, letter))
			settings->given[strlen(settings->given)] = letter;
		switch (option) {
		case 'n': settings->show = cli_integer("-n", 0, INT64_MAX); break;
		case 'a': settings->absolute = cli_real("-a", 0, 1e300); break;
		case 'r': settings->relative = cli_real("-r", 0, 1e300); break;
		case 'c': add_all(&settings->selection.kept, optarg); break;
		case 'b': settings->rows = cli_integer("-b", 1, 1 << 24); break;
		case 'o': settings->output = optarg; break;
		case OPT_RENAME: add_rename(&settings->selection.renames, optarg); break;
		case OPT_NUMBERS: add_all(&settings->numbers, optarg); break;
		case OPT_MAX_LINE: settings->max_line = cli_bytes("--max-line"); break;
		case OPT_LEVEL:
			settings->level = (int)cli_integer("--level", 0, 19);
			break;
		}
	}
}

static const struct command *
find_command(const struct settings *settings, const char *name, int operands)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		const struct command *command = &commands[i];
		if (!name || strcmp(name, command->name))
			continue;
		refuse_others(settings, name, command->allowed);
		if (operands < command->least ||
		    (command->most && operands > command->most))
			die_usage("%s: too %s files", name,
			    operands < command->least ? "few" : "many");
		return command;
	}
	die_usage("%s%s%sis not a command: head, stat, cat, paste, diff, to and from are",
	    name ? "'" : "", name ? name : "nothing", name ? "' " : " ");
}

int
main(int argc, char **argv)
{
	struct settings settings = { .show = 5,
		.rows = 1024,
		.max_line = DATAFILE_LINE,
		.level = -1,
		.output = "-" };

	cli_start(&cli, argc, argv);
	parse(&settings, argc, argv);
	argc -= optind;
	argv += optind;
	const struct command *command =
	    find_command(&settings, argc ? argv[0] : NULL, argc - 1);
	int dashes = 0;
	for (int i = 1; i < argc; i++)
		dashes += !strcmp(argv[i], "-");
	if (dashes > 1)
		die_usage("%s: standard input can be read only once", command->name);
	int status = command->run(&settings, argv + 1, argc - 1);
	if (fflush(stdout) || ferror(stdout))
		die("<stdout>:");
	free(settings.selection.kept.items);
	free(settings.selection.renames.items);
	free(settings.numbers.items);
	return status;
}
