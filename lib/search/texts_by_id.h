/*
 * texts_by_id - the texts of a run's queries or documents, found by their ids in a file of texts or a stream.
 */
#ifndef SEARCH_TEXTS_BY_ID_H
#define SEARCH_TEXTS_BY_ID_H

#include <stdbool.h>

#include "base/strings.h"
#include "search/row_texts.h"

/*
 * Reads the texts of the ids with wanted[number] true, by "_id" or "id"; the first text of an id counts.  field: as of tok -f;
 * NULL: "text", else "query".  what: "queries" or "documents", for messages.  Dies if an id that is wanted has no text.
 */
void texts_by_id(struct row_texts *texts, const char *path, const char *field,
    const struct strings *ids, const bool *wanted, const char *what);

#endif
