/*
 * score_table - a leaderboard of results: one row per data set, grouped by type, with means; one column per model.
 *
 * The parts of a data set (the sub-forums of CQADupstack) are one row, their mean; by protocol v2, whose benchmark has
 * two of them as data sets, each is a row.  A model has a mean only if it has all data sets of the table.
 */
#ifndef MTEB_SCORE_TABLE_H
#define MTEB_SCORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "mteb/registry.h"
#include "mteb/results.h"

/* A row without a task summarises each model over the sets of its type or, without a type, over all, as mteb's leaderboard. */
enum score_summary {
	SUMMARY_MEAN,
	SUMMARY_MEAN_OF_TYPES, /* the mean of the types' means */
	SUMMARY_BORDA, /* the rank by the sum over data sets of models - rank, from 1; equal ones have the best of theirs */
	SUMMARY_ZERO_SHOT /* the share of data sets that the model was not trained on (zero_shot.h) */
};

struct score_row {
	const char *type, *task; /* task NULL: a summary; both NULL: of all types */
	enum score_summary summary;
	char *
	    metric; /* joined by commas if the models' differ; NULL: unknown, or a mean */
	double *values; /* [models], fractions, or ranks; NaN: no result */
	bool *
	    other; /* [models]: scored on a set of another size than mteb's, or not on all parts */
	size_t sets; /* of a summary; of the mean of types, types */
};

struct score_table {
	const struct results *const *models; /* borrowed */
	char **names; /* [models]: with revision, protocol or folder if two are alike */
	size_t model_count;
	struct score_row *rows;
	size_t count, capacity;
};

/* Whether tables show the row: the summary of a single set is not shown. */
bool score_table_shows(const struct score_row *row);

/* The name of the row's set or summary, and a value as tables show it, in percent or a rank. */
enum { SCORE_TEXT_ROOM = 64 };
const char *score_table_label(const struct score_row *row, char room[SCORE_TEXT_ROOM]);
const char *score_table_value(
    const struct score_row *row, size_t model, char room[SCORE_TEXT_ROOM]);

/* The meaning of a star behind a score. */
extern const char score_table_note[];

/* `registry` gives types, metrics and parts; of tasks not in it the result files do. */
struct score_table *score_table_new(
    const struct registry *registry, const struct results *const *models, size_t count);
void score_table_tsv(const struct score_table *table, FILE *out);
void score_table_markdown(const struct score_table *table, FILE *out);

/* A page with bars, without scripts or external files. */
void score_table_html(const struct score_table *table, FILE *out);
void score_table_free(struct score_table *table);

/* Prints the table of folders of results by one of the functions above. */
void score_table_print(const struct registry *registry, char *const *folders, int count,
    void (*print)(const struct score_table *, FILE *), FILE *out);

#endif
