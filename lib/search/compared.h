/*
 * compared - texts that are compared, and their search: each text a vector (search.h), weights of terms (search_terms.h) or a list
 * of the vectors of its tokens (search_tokens.h).
 */
#ifndef SEARCH_COMPARED_H
#define SEARCH_COMPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/rows.h"
#include "search/search.h"
#include "search/term_lists.h"
#include "search/vector_lists.h"

/* Texts.  Set width, similarity and of_terms, the rest zero. */
struct compared {
	int width;
	enum similarity similarity;
	bool of_terms;
	int64_t count;	/* texts */
	int64_t values; /* vectors, or terms, of all texts */
	double
	    longest; /* length of the longest vector; of unit vectors slightly above 1 */
	float *vectors; /* [count, width]; or: */
	struct term_rows terms;
	struct vector_lists lists;
	size_t room;
};

/* Bytes of a value: a vector, or a term with its weight. */
size_t compared_bytes(const struct compared *texts);

/* Makes room for so many vectors; of terms it does nothing. */
void compared_reserve(struct compared *texts, int64_t values);

/* Adds a row; returns the length of its longest vector.  Notes faults. */
double compared_add(struct compared *texts, struct rows *rows, const struct row *row);

/* Forgets the texts, but keeps the memory. */
void compared_clear(struct compared *texts);
void compared_free(struct compared *texts);

/* A search of `queries`; search_exclude, search_hits and search_finish serve it. */
struct search *compared_search(const struct compared *queries, int64_t depth,
    float threshold, search_order *order, const void *context);

/* Searches the next documents. */
void compared_search_add(struct search *search, const struct compared *documents);

/* The score of the only text of `document` for a query.  search: of the queries, only if they have the vectors of tokens. */
double compared_score(const struct compared *queries, int64_t query,
    const struct compared *document, struct search *search);

#endif
