/*
 * index_changes - which rows of an index a change removes, and which rows of streams it adds.
 */
#ifndef SEARCH_INDEX_CHANGES_H
#define SEARCH_INDEX_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "search/rows.h"
#include "search/vector_index.h"

struct index_changes;

/* The index is borrowed; a new one has no rows. */
struct index_changes *index_changes_new(
    const struct vector_index *index, enum index_change change);

/* Removes the rows whose ids a file has: plain lines, or the column _id or id of JSON Lines, TSV or CSV.  Warns of ids that the
 * index does not have. */
void index_changes_remove(struct index_changes *changes, const char *path);

/* Whether a row of the streams counts: with INDEX_APPEND its id must be new; without passages it must be the first of its id.  *old: the
 * id of the index whose rows it may be or replace; -1: none. */
bool index_changes_meet(
    struct index_changes *changes, const struct row *row, int64_t *old);

/* Whether the row is to be added: no row of the id has this text and vector, to search with, or the index keeps columns.  The rows of
 * the id that the streams do not have are removed in the end. */
bool index_changes_replace(struct index_changes *changes, int64_t old,
    const struct row *row, const float *vector);

/* The rows that are removed now and were not before, ascending [*count], to be freed.  Call after the last row of the streams. */
uint32_t *index_changes_end(struct index_changes *changes, int64_t *count);
void index_changes_free(struct index_changes *changes);

#endif
