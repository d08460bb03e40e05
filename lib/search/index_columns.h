/*
 * index_columns - the columns that an index keeps, so that a search can leave out rows by conditions on them.
 *
 * They are streams in the folder, kept.1.mts, kept.2.mts, ..., one for each stream that rows came from, with its rows in
 * their order.  index.json: "keeps": [name, ...], and in each of the parts "kept": [{"rows", "bytes", "hash"}, ...].
 */
#ifndef SEARCH_INDEX_COLUMNS_H
#define SEARCH_INDEX_COLUMNS_H

#include "search/rows.h"
#include "search/vector_index.h"

/* Writing, by vector_index_write.c: the columns of the names in `keeps`, a list. */
struct index_columns;

/* about: index.json before the addition; folder: where the files are written. */
struct index_columns *index_columns_new(const struct tree *about, const char *folder);

/* Keeps the last row of the rows, or, if it is not wanted, only notes that it was read. */
void index_columns_add(
    struct index_columns *columns, const struct rows *rows, bool wanted);

/* Ends the files and frees.  Returns the part's "kept", to be freed. */
struct tree *index_columns_end(struct index_columns *columns);

/* Reading: sets index->pass and index->passing to the rows for which all conditions hold.  Dies if the index does not keep
 * their columns. */
void index_columns_choose(
    struct vector_index *index, const char *const *conditions, int count);

/* Dies naming the first file that is damaged. */
void index_columns_check(const struct vector_index *index);

#endif
