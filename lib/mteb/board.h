/*
 * board - a table of results: a line a data set, by type, with means; a column a model.
 *
 * Parts of a data set (the sub-forums of CQADupstack) are one line, their mean.  A mean is over
 * the data sets, and there is one only where the model has all of the table's.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "mteb/benchmark.h"
#include "mteb/results.h"

struct board_row {
	const char *type, *task; /* of a mean, task is NULL; of that of all, type too */
	const char *metric;	 /* NULL: not known, or a mean */
	double *values;		 /* [models], fractions; NaN: not there */
	bool *
	    other; /* [models]: not the set of that name that mteb has, or not all parts */
	size_t sets; /* of a mean */
};

struct board {
	const struct results *const *models; /* borrowed */
	char **names; /* [models]: with the revision where two are alike */
	size_t model_count;
	struct board_row *rows;
	size_t count, capacity;
};

/* What a star behind a score means. */
extern const char board_note[];

/* `benchmark` gives types, metrics and parts; what it does not know goes by the files. */
struct board *board_new(
    const struct benchmark *benchmark, const struct results *const *models, size_t count);
void board_tsv(const struct board *board, FILE *out);
void board_markdown(const struct board *board, FILE *out);

/* One page: bars, no script, nothing from a network. */
void board_html(const struct board *board, FILE *out);
void board_free(struct board *board);

#endif
