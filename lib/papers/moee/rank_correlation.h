/*
 * rank_correlation - how alike several models rank the same pairs of texts: Spearman's correlation of each two of their
 * similarities, as a matrix, and its means by blocks.
 *
 * Your Mixture-of-Experts LLM is Secretly an Embedding Model for Free (Li and Zhou 2024), Figure 4: routing weights and
 * hidden states under nine prompts.
 */
#ifndef PAPERS_MOEE_RANK_CORRELATION_H
#define PAPERS_MOEE_RANK_CORRELATION_H

#include <stdbool.h>

struct rank_correlation_options {
	const char *column; /* NULL: "similarity" */
	bool blocks;
};

/*
 * Each file is a stream with the column, a number a row, or a table of scores per query (per_query.h) with it; all have the
 * same ids, in any order.  To standard output
 *
 *	name, NAME...		the matrix, a line a file; a name is the file's, without its ending
 *	a, b, pairs, mean, min, max	or the means: blocks are the files of a folder each; in a block each two files
 *				count once, and none beside itself
 *
 * Dies, naming it, on a file with other ids, with fewer than two rows, with a number that is not finite, and
 * with numbers that are all equal, which have no ranks.
 */
void rank_correlation_print(
    const char *const *paths, int count, const struct rank_correlation_options *options);

#endif
