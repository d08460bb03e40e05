/*
 * completion - prints a program's options, commands and operands for the shell's completion (share/completion).
 *
 * Tab-separated lines; '-' is an empty cell:
 *
 *	option	--gain	-	linear|exp	retrieval: gain of nDCG ...
 *	common	--quiet	-q	-	no progress, no warnings
 *	command	stat	output json	the header and statistics of each column
 *	operands	-	.mts
 *	operands	to	npy|tsv .mts
 *
 * The argument of an option or operand is MODEL, DIR, FILE, a list of words or of file endings; anything else is not
 * completed.
 */
#ifndef BASE_COMPLETION_H
#define BASE_COMPLETION_H

#include "base/cli.h"

/* Prints to standard output. */
void completion_print(const struct cli *cli);

#endif
