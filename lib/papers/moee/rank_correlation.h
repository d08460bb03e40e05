/*
 * rank_correlation - Spearman's correlation between the similarities of several models for the same pairs of texts, as a matrix, or
 * its means over blocks.
 *
 * MoEE (Li and Zhou 2024), Figure 4: routing weights and hidden states under nine prompts.
 */
#ifndef PAPERS_MOEE_RANK_CORRELATION_H
#define PAPERS_MOEE_RANK_CORRELATION_H

#include <stdbool.h>

struct rank_correlation_options {
	const char *column; /* NULL: "similarity" */
	bool blocks;
};

/*
 * Each file is a stream with the column, a number per row, or a table of scores per query (per_query.h) with it; all have the same
 * ids, in any order.  Prints
 *
 *	name, NAME...			the matrix, a line per file; NAME is the file's name without suffix
 *	a, b, pairs, mean, min, max	or the means: a block is the files of a folder; within a block each pair of files counts
 *					once, without the diagonal
 *
 * Dies, naming the file, on other ids, fewer than two rows, a number that is not finite, and numbers that are all equal.
 */
void rank_correlation_print(
    const char *const *paths, int count, const struct rank_correlation_options *options);

#endif
