/*
 * stratify - the samples of rows that mteb draws with the labels in the proportions of all rows.
 */
#ifndef SCORE_STRATIFY_H
#define SCORE_STRATIFY_H

#include <stdint.h>

/*
 * Rows with numbers: ten bins by quantiles (pandas' qcut).  Each bin gives its share, by the test half of `datasets`'
 * train_test_split(test_size=count, seed=seed, stratify_by_column=bin).
 *
 * Writes rows [count], of each bin in the order drawn; count < n.
 */
void stratify_numbers(
    const double *y, int64_t n, int64_t count, uint32_t seed, int64_t *rows);

/* Rows with lists of labels: row i has labels label[starts[i]] to label[starts[i + 1] - 1], numbers from 0. */
struct label_lists {
	const int32_t *label;
	const int64_t *starts; /* [n + 1] */
	int64_t n;
	int32_t classes;
};

/*
 * Iterative stratification of pairs of labels (Sechidis et al. 2011, Szymanski and Kajdanowicz 2017), as the copy of
 * scikit-multilearn in mteb with numpy's RandomState(seed).  The result depends on the order of the labels: a row's
 * labels ascend, and differ.
 *
 * Writes the sampled rows, ascending, to rows [n]; returns their number, which is near `count`.
 */
int64_t stratify_labels(
    const struct label_lists *lists, int64_t count, uint32_t seed, int64_t *rows);

#endif
