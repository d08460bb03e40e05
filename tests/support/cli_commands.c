/* cli_commands - a program with two commands, which prints the command and its arguments.  For tests. */
#include <stdio.h>
#include <unistd.h>

#include "base/cli.h"

enum { OPT_BATCH = CLI_LONG };

static const struct cli_option options[] = { { 'n', "number", "N",
						 "for either\nin two lines", CLI_CUSTOM },
	{ 's', "seed", "N", "sort, sort-fast: seed\nof chance", CLI_CUSTOM },
	{ OPT_BATCH, "batch", "ROWS",
	    "sort: rows (default: 1)\nin memory\nsort-fast: rows (default: 2)\nand more",
	    CLI_CUSTOM },
	{ 'x', "exact", NULL, "join whole, in part: exactly", CLI_CUSTOM }, { 0 } };

static const struct cli_command commands[] = {
	{ "sort", "put in order", "number seed batch", 0, 1, NULL },
	{ "sort-fast", "put in some order", "number seed batch", 0, 1, NULL },
	{ "join", "put together", "number exact", 2, -1, NULL },
	{ 0 },
};

static const struct cli cli = { "cli_commands", "try commands",
	"sort|sort-fast [OPTION]... [FILE]\n"
	"       cli_commands join FILE FILE...\n"
	"       cli_commands join whole|part FILE FILE...",
	options,
	"  cli_commands sort-fast x | cli_commands sort\n"
	"  cli_commands sort y\n"
	"  cli_commands join x y\n",
	NULL, commands, NULL };

int
main(int argc, char **argv)
{
	cli_start(&cli, argc, argv);
	while (cli_next(&cli, argc, argv, NULL) != -1)
		;
	printf("%s: %s\n", cli_find(&cli, argc, argv)->name, argv[argc - 1]);
	return 0;
}
