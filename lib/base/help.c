#include "base/help.h"

#include <stdio.h>
#include <string.h>

const struct cli_option help_common[] = {
	{ 0, "progress", NULL, "show progress even without a terminal", CLI_CUSTOM },
	{ 'q', "quiet", NULL, "no progress, no warnings", CLI_CUSTOM },
	{ 'v', "verbose", NULL, "report what was done", CLI_CUSTOM },
	{ 'h', "help", NULL, "this text", CLI_CUSTOM },
	{ 0, "version", NULL, "version", CLI_CUSTOM }, { 0 }
};

enum { INDENT = 30, WIDTH = 80 }; /* columns of an option's text */

/* A part of a text. */
struct excerpt {
	const char *start;
	size_t length;
};

/* Takes a line of the text; false if nothing is left. */
static bool
next_line(const char **text, struct excerpt *line)
{
	if (!**text)
		return false;
	*line = (struct excerpt){ *text, strcspn(*text, "\n") };
	*text += line->length;
	*text += **text != 0;
	return true;
}

static bool
is_word(struct excerpt piece, const char *word)
{
	return strlen(word) == piece.length && !strncmp(piece.start, word, piece.length);
}

static bool
is_command(const struct cli *cli, struct excerpt piece)
{
	for (const struct cli_command *c = cli->commands; c->name; c++)
		if (is_word(piece, c->name))
			return true;
	return false;
}

/* Skips the command names at the start of a line; returns whether `command` is among them, or there are none. */
static bool
is_for(const struct cli *cli, const struct cli_command *command, struct excerpt *line)
{
	const char *colon = memchr(line->start, ':', line->length), *at = line->start;
	bool any = false, found = false;

	while (colon && at < colon) {
		struct excerpt word = { at, strcspn(at, ",: ") };
		if (!is_command(cli, word))
			break;
		any = true;
		found |= is_word(word, command->name);
		at += word.length;
		at += strspn(at, ",: ");
	}
	line->length -= (size_t)(at - line->start);
	line->start = at;
	return found || !any;
}

/* Prints words from column INDENT on, wrapped at WIDTH; `column` is where the line is, and is returned. */
static int
print_words(struct excerpt line, int column)
{
	const char *end = line.start + line.length;

	for (const char *at = line.start; at < end;) {
		int length = (int)strcspn(at, " \n");
		if (at + length > end)
			length = (int)(end - at);
		bool first = column == INDENT;
		if (!first && column + 1 + length > WIDTH) {
			printf("\n%*s", INDENT, "");
			column = INDENT;
			first = true;
		}
		printf("%s%.*s", first ? "" : " ", length, at);
		column += length + !first;
		at += length;
		at += at < end;
	}
	return column;
}

/* Prints an option's text; only the lines of the command, unless it is NULL. */
static void
print_text(const struct cli *cli, const struct cli_command *command, const char *text)
{
	int column = INDENT;
	struct excerpt line;
	bool on = true;

	while (next_line(&text, &line)) {
		const char *start = line.start;
		bool its = !command || is_for(cli, command, &line);
		if (line.start > start)
			on = its;
		if (!on)
			continue;
		if (column > INDENT)
			printf("\n%*s", INDENT, "");
		column = print_words(line, INDENT);
	}
	putchar('\n');
}

/* Prints an option's values, "a|b|c", from `column` on, wrapped at WIDTH below their beginning; returns the column after them. */
static int
print_values(const char *values, int column)
{
	const int start = column;

	while (*values) {
		int length = (int)strcspn(values, "|");
		length += values[length] == '|';
		if (column > start && column + length > WIDTH) {
			printf("\n%*s", start, "");
			column = start;
		}
		printf("%.*s", length, values);
		column += length;
		values += length;
	}
	return column;
}

static void
print_option(const struct cli *cli, const struct cli_command *command,
    const struct cli_option *option)
{
	if (option->letter == CLI_HEADING) {
		printf("%s%s\n", option == cli->options ? "" : "\n", option->help);
		return;
	}
	char letter[] = { '-', (char)option->letter, ',', ' ', 0 };

	int column = printf("  %s--%s%s",
	    option->letter && option->letter < CLI_LONG ? letter : "    ", option->name,
	    option->argument ? " " : "");
	if (option->argument)
		column = print_values(option->argument, column);
	if (column >= INDENT)
		printf("\n%*s", INDENT, "");
	else
		printf("%*s", INDENT - column, "");
	print_text(cli, command, option->help);
}

/* Prints the lines of the synopsis that begin with the command, or with alternatives "a|b" that contain it. */
static void
print_synopsis(const struct cli *cli, const struct cli_command *command)
{
	const char *text = cli->synopsis, *before = "Usage:";
	struct excerpt line, word;

	while (next_line(&text, &line)) {
		const char *at = line.start + strspn(line.start, " ");
		at +=
		    strncmp(at, cli->name, strlen(cli->name)) ? 0 : strlen(cli->name) + 1;
		const char *rest = at + strcspn(at, " \n");
		while (at < rest) {
			word = (struct excerpt){ at, strcspn(at, "| \n") };
			if (is_word(word, command->name))
				printf("%s %s %s%.*s\n", before, cli->name, command->name,
				    (int)(line.start + line.length - rest), rest);
			if (is_word(word, command->name))
				before = "      ";
			at += word.length + 1;
		}
	}
}

static void
print_examples(const struct cli *cli, const struct cli_command *command)
{
	const char *text = cli->examples, *before = "\nExamples:\n";
	size_t name = strlen(cli->name);
	struct excerpt line;

	while (next_line(&text, &line)) {
		const char *at = line.start;
		while ((at = strstr(at, cli->name)) && at < line.start + line.length) {
			at += name;
			const char *word = at + strspn(at, " ");
			if (is_word((struct excerpt){ word, strcspn(word, " \n") },
				command->name)) {
				printf("%s%.*s\n", before, (int)line.length, line.start);
				before = "";
				break;
			}
		}
	}
}

static void
print_all(const struct cli *cli)
{
	printf("%s - %s\n\nUsage: %s %s\n", cli->name, cli->purpose, cli->name,
	    cli->synopsis);
	if (cli->commands)
		printf("\n'%s COMMAND --help' describes one command.\n", cli->name);
}

void
help_print(const struct cli *cli, const struct cli_command *command)
{
	if (command) {
		printf("%s %s - %s\n\n", cli->name, command->name, command->purpose);
		print_synopsis(cli, command);
	} else {
		print_all(cli);
	}
	putchar('\n');
	for (const struct cli_option *o = cli->options; o->name; o++)
		if (!command || cli_listed(command->options, o->name))
			print_option(cli, command, o);
	if (!command && cli->options->letter == CLI_HEADING)
		printf("\nOf every program:\n");
	for (const struct cli_option *o = help_common; o->name; o++)
		print_option(cli, command, o);
	if (command && cli->examples)
		print_examples(cli, command);
	else if (cli->examples)
		printf("\nExamples:\n%s", cli->examples);
}
