#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/mt19937.h"
#include "base/strings.h"
#include "score/stratify.h"

enum { FOLDS = 2 }; /* the sample, and the rest */

/* A pair of labels that rows have; a label also pairs with itself. */
struct label_pair {
	bool two;		 /* different labels */
	struct numbers evidence; /* rows without a fold, ascending */
	double wanted[FOLDS];
};

struct stratification {
	const struct label_lists *lists;
	struct strings *names; /* the pairs as bytes, numbered by first appearance */
	struct label_pair *pairs;
	size_t pairs_room;
	struct numbers of_row, row_starts; /* the pairs of each row */
	double wanted[FOLDS];		   /* rows */
	signed char *fold;		   /* [n]; -1: none yet */
	struct mt19937 mt;
};

static void
add_pair(struct stratification *all, int32_t one, int32_t other, int64_t row)
{
	int32_t pair[2] = { one, other };
	bool fresh;
	int64_t number = strings_add(all->names, (char *)pair, sizeof pair, &fresh);

	if (fresh) {
		all->pairs = mem_grow(
		    all->pairs, &all->pairs_room, (size_t)number + 1, sizeof *all->pairs);
		all->pairs[number] = (struct label_pair){ .two = one != other };
	}
	numbers_add(&all->pairs[number].evidence, row);
	numbers_add(&all->of_row, number);
}

static void
find_pairs(struct stratification *all, const double share[FOLDS])
{
	const struct label_lists *lists = all->lists;

	for (int64_t row = 0; row < lists->n; row++) {
		numbers_add(&all->row_starts, (int64_t)all->of_row.count);
		for (int64_t i = lists->starts[row]; i < lists->starts[row + 1]; i++)
			for (int64_t j = i; j < lists->starts[row + 1]; j++)
				add_pair(all, lists->label[i], lists->label[j], row);
	}
	numbers_add(&all->row_starts, (int64_t)all->of_row.count);
	for (int64_t i = 0; i < strings_count(all->names); i++)
		for (int fold = 0; fold < FOLDS; fold++)
			all->pairs[i].wanted[fold] =
			    (double)all->pairs[i].evidence.count * share[fold];
	for (int fold = 0; fold < FOLDS; fold++)
		all->wanted[fold] = share[fold] * (double)lists->n;
}

/* The pair to distribute next: the first with rows left, unless a later one of two labels has fewer rows than one of a
 * single label.  -1: none is left. */
static int64_t
next_pair(const struct stratification *all)
{
	int64_t best = -1;

	for (int64_t i = 0; i < strings_count(all->names); i++) {
		const struct label_pair *pair = &all->pairs[i];
		if (pair->evidence.count &&
		    (best < 0 ||
			(pair->two && !all->pairs[best].two &&
			    pair->evidence.count < all->pairs[best].evidence.count)))
			best = i;
	}
	return best;
}

/* A random fold of both. */
static int
any_fold(struct stratification *all)
{
	int64_t fold;

	mt19937_integers(&all->mt, FOLDS, &fold, 1);
	return (int)fold;
}

/* Removes a row from an ascending list, if it is there. */
static void
remove_row(struct numbers *evidence, int64_t row)
{
	size_t low = 0, high = evidence->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (evidence->data[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == evidence->count || evidence->data[low] != row)
		return;
	evidence->count--;
	memmove(evidence->data + low, evidence->data + low + 1,
	    (evidence->count - low) * sizeof *evidence->data);
}

static void
distribute_pair(struct stratification *all, struct label_pair *pair)
{
	while (pair->evidence.count) {
		int64_t row = pair->evidence.data[--pair->evidence.count];
		int fold = pair->wanted[0] == pair->wanted[1]
			       ? any_fold(all)
			       : pair->wanted[1] > pair->wanted[0];
		all->fold[row] = (signed char)fold;
		for (int64_t i = all->row_starts.data[row];
		     i < all->row_starts.data[row + 1]; i++) {
			struct label_pair *of_row = &all->pairs[all->of_row.data[i]];
			remove_row(&of_row->evidence, row);
			of_row->wanted[fold] -= 1;
		}
		all->wanted[fold] -= 1;
	}
}

/* Rows without labels, the last first. */
static void
distribute_rest(struct stratification *all)
{
	for (int64_t row = all->lists->n - 1; row >= 0; row--) {
		if (all->fold[row] >= 0)
			continue;
		int fold = all->wanted[0] > 0 && all->wanted[1] > 0 ? any_fold(all)
								    : all->wanted[1] > 0;
		all->wanted[fold] -= 1;
		all->fold[row] = (signed char)fold;
	}
}

int64_t
stratify_labels(
    const struct label_lists *lists, int64_t count, uint32_t seed, int64_t *rows)
{
	struct stratification all = { .lists = lists,
		.names = strings_new(),
		.fold = mem_new((size_t)lists->n, 1) };
	double part = (double)count / (double)lists->n, share[FOLDS] = { part, 1 - part };
	int64_t taken = 0, pair;

	memset(all.fold, -1, (size_t)lists->n);
	mt19937_seed_numpy(&all.mt, seed);
	find_pairs(&all, share);
	while ((pair = next_pair(&all)) >= 0)
		distribute_pair(&all, &all.pairs[pair]);
	distribute_rest(&all);
	for (int64_t row = 0; row < lists->n; row++)
		if (all.fold[row] == 0)
			rows[taken++] = row;
	for (int64_t i = 0; i < strings_count(all.names); i++)
		free(all.pairs[i].evidence.data);
	strings_free(all.names);
	free(all.pairs);
	free(all.of_row.data);
	free(all.row_starts.data);
	free(all.fold);
	return taken;
}
