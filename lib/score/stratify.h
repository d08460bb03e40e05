/*
 * stratify - the samples of rows that mteb draws with the labels in the proportions of all rows.
 */
#ifndef SCORE_STRATIFY_H
#define SCORE_STRATIFY_H

#include <stdint.h>

/*
 * Of rows with numbers: ten bins by quantiles (pandas' qcut), and from each its share, by the test half of `datasets`'
 * train_test_split(test_size=count, seed=seed, stratify_by_column=bin).
 *
 * Writes rows [count], of each bin in the order drawn; count < n.
 */
void stratify_numbers(
    const double *y, int64_t n, int64_t count, uint32_t seed, int64_t *rows);

#endif
