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

/* Reading: lets a search find only rows for which all conditions hold (vector_index_let_pass).  Dies if the index does not keep
 * their columns. */
void index_columns_choose(
    struct vector_index *index, const char *const *conditions, int count);

/* The number of files kept.N.mts, and the path of the file of a number, to be freed. */
int64_t index_columns_files(const struct tree *about);
char *index_columns_path(const struct vector_index *index, int64_t number);

/* Dies naming the first file that is damaged. */
void index_columns_check(const struct vector_index *index);

#endif
