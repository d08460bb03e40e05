/*
 * candidates - which documents a query is compared with, asked document by document: what a
 * reranking task adds to a retrieval task.
 */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"

struct candidates;

/* From run_read_candidates' files, for these queries; warns of those that have none, dies when none
 * has any.  `stream` is what the queries came from. */
struct candidates *candidates_read(
    const char *path, const struct strings *queries, const char *stream);

/* The numbers of the queries that the document is a candidate of; returns how many.  Borrowed. */
int64_t candidates_queries(const struct candidates *candidates, const char *document,
    size_t length, const int64_t **queries);

/* Warns of candidates that are not in the corpus. */
void candidates_close(struct candidates *candidates, const struct strings *corpus);

#endif
