/*
 * help - prints --help of a program or of one of its commands.
 *
 * Help of a command shows its lines of the synopsis, its examples and its options.  The text of an option may have
 * clauses for single commands; each begins on a new line with their names:
 *
 *	"classification: training rows a label (default: 8);\n"
 *	"clustering-fast: texts of an experiment (default: 16384)"
 *
 * Help of a command leaves out the clauses of other commands, and the names.
 */
#ifndef BASE_HELP_H
#define BASE_HELP_H

#include "base/cli.h"

/* The options that every program has. */
extern const struct cli_option help_common[];

/* Prints to standard output.  command NULL: the whole program. */
void help_print(const struct cli *cli, const struct cli_command *command);

#endif
