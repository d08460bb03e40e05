/*
 * help - what --help prints: of a whole program, or of one of its commands.
 *
 * Of a command: the lines of the synopsis and of the examples that are its own, and its options.
 * The text of an option may have clauses, each from the beginning of a line, that begin with the
 * commands they are for:
 *
 *	"classification: training rows a label (default: 8);\n"
 *	"clustering-fast: texts of an experiment (default: 16384)"
 *
 * Those that are for others are left out, and so are the names of the commands.
 */
#ifndef BASE_HELP_H
#define BASE_HELP_H

#include "base/cli.h"

/* The options of every program. */
extern const struct cli_option help_common[];

/* To standard output; command NULL: of all the program. */
void help_print(const struct cli *cli, const struct cli_command *command);

#endif
