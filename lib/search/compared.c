#include "search/compared.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "search/search_terms.h"
#include "search/search_tokens.h"

size_t
compared_bytes(const struct compared *texts)
{
	return texts->of_terms ? sizeof *texts->terms.ids + sizeof *texts->terms.weights
			       : mem_multiply((size_t)texts->width,
				     sizeof *texts->vectors, "vectors");
}

void
compared_reserve(struct compared *texts, int64_t values)
{
	bool tokens = similarity_of_lists(texts->similarity);
	struct vector_lists *lists = &texts->lists;

	if (tokens)
		lists->vectors = mem_grow(
		    lists->vectors, &lists->room, (size_t)values, compared_bytes(texts));
	else if (!texts->of_terms)
		texts->vectors = mem_grow(
		    texts->vectors, &texts->room, (size_t)values, compared_bytes(texts));
}

double
compared_add(struct compared *texts, struct rows *rows, const struct row *row)
{
	double length;

	if (similarity_of_lists(texts->similarity)) {
		length = vector_lists_add(
		    &texts->lists, row->vector, row->vectors, texts->width);
		texts->values += row->vectors;
	} else if (texts->of_terms) {
		float *weights =
		    term_rows_add(&texts->terms, row->terms, row->terms_count);
		length = rows_search_vector(rows, texts->similarity, weights, row);
		texts->values += row->terms_count;
	} else {
		compared_reserve(texts, texts->count + 1);
		length = rows_search_vector(rows, texts->similarity,
		    texts->vectors + texts->count * texts->width, row);
		texts->values++;
	}
	texts->count++;
	texts->longest = fmax(texts->longest, length);
	return length;
}

void
compared_clear(struct compared *texts)
{
	vector_lists_clear(&texts->lists);
	term_rows_clear(&texts->terms);
	texts->count = texts->values = 0;
	texts->longest = 0;
}

void
compared_free(struct compared *texts)
{
	vector_lists_free(&texts->lists);
	term_rows_free(&texts->terms);
	free(texts->vectors);
}

struct search *
compared_search(const struct compared *queries, int64_t depth, float threshold,
    search_order *order, const void *context)
{
	if (similarity_of_lists(queries->similarity))
		return search_tokens_new(&queries->lists, queries->width,
		    queries->similarity == SIMILARITY_MEANMAXSIM, depth, threshold, order,
		    context);
	if (queries->of_terms)
		return search_terms_new(
		    &queries->terms, depth, threshold, order, context);
	return search_new(queries->vectors, queries->count, queries->width, depth,
	    threshold, order, context);
}

void
compared_search_add(struct search *search, const struct compared *documents)
{
	if (similarity_of_lists(documents->similarity))
		search_tokens_add(search, &documents->lists, documents->longest);
	else if (documents->of_terms)
		search_terms_add(search, &documents->terms);
	else
		search_add(
		    search, documents->vectors, documents->count, documents->longest);
}

double
compared_score(const struct compared *queries, int64_t query,
    const struct compared *document, struct search *search)
{
	if (similarity_of_lists(queries->similarity))
		return (double)search_tokens_score(
		    search, query, &document->lists, document->longest);
	if (queries->of_terms)
		return term_rows_dot(&queries->terms, query, &document->terms, 0);
	return similarity_dot(
	    queries->vectors + query * queries->width, document->vectors, queries->width);
}
