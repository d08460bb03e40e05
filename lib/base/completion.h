/*
 * completion - what a program takes, for the shell that completes its command line.
 *
 * Lines of cells with a tab between, '-' for what is empty:
 *
 *	option	--gain	-	linear|exp	retrieval: gain of nDCG ...
 *	common	--quiet	-q	-	no progress, no warnings
 *	command	stat	output json	the header and what each column holds
 *	operands	-	.mts
 *	operands	to	npy|tsv .mts
 *
 * What an option takes, and an operand, is MODEL, DIR, FILE, a list of words or of the ends of
 * files' names, or something that nobody can know.
 */
#ifndef BASE_COMPLETION_H
#define BASE_COMPLETION_H

#include "base/cli.h"

/* To standard output. */
void completion_print(const struct cli *cli);

#endif
