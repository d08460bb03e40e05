/*
 * score_table - a table of results: a line a data set, by type, with means; a column a model.
 *
 * Parts of a data set (the sub-forums of CQADupstack) are one line, their mean; by protocol v2, whose
 * benchmark has two of them as sets of their own, each is a line.  A mean is over
 * the data sets, and there is one only where the model has all of the table's.
 */
#ifndef MTEB_SCORE_TABLE_H
#define MTEB_SCORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "mteb/registry.h"
#include "mteb/results.h"

struct score_row {
	const char *type, *task; /* of a mean, task is NULL; of that of all, type too */
	char *
	    metric; /* several, between commas, where the models' differ; NULL: not known, or a mean */
	double *values; /* [models], fractions; NaN: not there */
	bool *
	    other; /* [models]: not the set of that name that mteb has, or not all parts */
	size_t sets; /* of a mean */
};

struct score_table {
	const struct results *const *models; /* borrowed */
	char **
	    names; /* [models]: with the revision, the protocol or the folder where two are alike */
	size_t model_count;
	struct score_row *rows;
	size_t count, capacity;
};

/* Whether tables for people have the row: that of one set alone says again what the set's does. */
bool score_table_shows(const struct score_row *row);

/* What a star behind a score means. */
extern const char score_table_note[];

/* `registry` gives types, metrics and parts; what it does not know goes by the files. */
struct score_table *score_table_new(
    const struct registry *registry, const struct results *const *models, size_t count);
void score_table_tsv(const struct score_table *table, FILE *out);
void score_table_markdown(const struct score_table *table, FILE *out);

/* One page: bars, no script, nothing from a network. */
void score_table_html(const struct score_table *table, FILE *out);
void score_table_free(struct score_table *table);

/* That of folders of results, by one of the three. */
void score_table_print(const struct registry *registry, char *const *folders, int count,
    void (*print)(const struct score_table *, FILE *), FILE *out);

#endif
