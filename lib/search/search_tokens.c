#include "search/search_tokens.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "search/search_internal.h"
#include "search/similarity.h"

enum { QUERY_VECTORS = 256, DOCUMENT_VECTORS = 512, DEVICE_VECTORS = 16384 };

/* A document that may be a hit. */
struct token_hit {
	int64_t query;
	int64_t document;
	double score;
};

struct token_worker {
	float *products; /* [document vectors, query vectors] */
	float *best;	 /* [query vectors], the largest of a document */
	struct token_hit *found;
	int64_t count;
	size_t products_room, best_room, found_room;
	/* on a device: documents and products in its memory */
	float *documents_at, *products_at;
	size_t documents_size, products_size;
};

struct token_search {
	const struct vector_lists *queries;
	const float *queries_at; /* in memory of the kernels */
	bool copied, mean;
	int width;
	double error;  /* of a product of vectors of length 1 */
	double *norms; /* [query vectors] */
	double *sums;  /* [queries], of the norms of a query's vectors */
	struct token_worker *workers;
};

static size_t
queries_bytes(const struct token_search *m)
{
	return (size_t)vector_lists_vectors(m->queries) * (size_t)m->width *
	       sizeof(float);
}

struct search *
search_tokens_new(const struct vector_lists *queries, int width, bool mean, int64_t depth,
    float threshold, search_order *order, const void *context)
{
	struct search *search =
	    search_begin(queries->count, depth, threshold, order, context);
	struct token_search *m = search->tokens = mem_zero(1, sizeof *m);
	int64_t vectors = vector_lists_vectors(queries);

	m->queries = queries;
	m->width = width;
	m->mean = mean;
	m->error = nn_product_error((size_t)width);
	m->norms = mem_new((size_t)vectors + 1, sizeof *m->norms);
	m->sums = mem_zero((size_t)queries->count + 1, sizeof *m->sums);
	for (int64_t i = 0; i < vectors; i++) {
		const float *query = queries->vectors + i * width;
		m->norms[i] = sqrt(similarity_dot(query, query, width));
	}
	for (int64_t q = 0; q < queries->count; q++)
		for (int64_t j = queries->starts[q]; j < queries->starts[q + 1]; j++)
			m->sums[q] += m->norms[j];
	m->queries_at =
	    nn_bytes_of(queries->vectors, queries_bytes(m), sizeof(float), &m->copied);
	m->workers = mem_zero(nn_workers(), sizeof *m->workers);
	return search;
}

/* Queries first..end-1 and their vectors. */
struct query_group {
	int64_t first, end, from, vectors;
};

static struct query_group
group_of(const struct vector_lists *queries, int64_t first)
{
	struct query_group g = { first, first + 1, queries->starts[first], 0 };

	while (g.end < queries->count &&
	       queries->starts[g.end + 1] - g.from <= QUERY_VECTORS)
		g.end++;
	g.vectors = queries->starts[g.end] - g.from;
	return g;
}

/* products[n, vectors of the group] of n vectors of documents. */
static void
multiply(const struct token_search *m, struct token_worker *w,
    const struct query_group *g, const float *documents, int64_t n)
{
	size_t rows = (size_t)n, columns = (size_t)g->vectors, width = (size_t)m->width;
	const float *queries = m->queries_at + (size_t)g->from * width;

	w->products = mem_grow(
	    w->products, &w->products_room, rows * columns + 1, sizeof *w->products);
	if (!rows || !columns)
		return;
	if (!nn_device()) {
		nn_product_nt(
		    w->products, documents, queries, rows, columns, width, 1, 0);
		return;
	}
	w->documents_at =
	    nn_reserve(w->documents_at, &w->documents_size, rows * width, sizeof(float));
	w->products_at =
	    nn_reserve(w->products_at, &w->products_size, rows * columns, sizeof(float));
	nn_upload(w->documents_at, documents, rows * width * sizeof(float));
	nn_product_nt(
	    w->products_at, w->documents_at, queries, rows, columns, width, 1, 0);
	nn_download(w->products, w->products_at, rows * columns * sizeof(float));
}

/* Writes best [columns]: the largest product of each column; 0 without rows. */
static void
find_best(float *best, const float *products, int64_t rows, int64_t columns)
{
	for (int64_t j = 0; j < columns; j++)
		best[j] = rows ? products[j] : 0;
	for (int64_t i = 1; i < rows; i++) {
		const float *row = products + i * columns;
#pragma omp simd
		for (int64_t j = 0; j < columns; j++)
			best[j] = row[j] > best[j] ? row[j] : best[j];
	}
}

/* A document in a worker's products. */
struct token_document {
	const float *vectors, *products; /* the products at its first vector */
	int64_t count;
	double norm; /* at least that of its vectors */
};

/* The largest rounding error of a product with query vector j. */
static double
error_of(const struct token_search *m, int64_t j, double norm)
{
	return m->error * m->norms[j] * norm + (double)m->width * (double)FLT_MIN;
}

/* The score of a document for a query: in double, the products that may be the largest. */
static float
exact(const struct token_search *m, const struct token_worker *w,
    const struct query_group *g, int64_t query, const struct token_document *document)
{
	const int64_t *starts = m->queries->starts;
	int64_t vectors = starts[query + 1] - starts[query];
	double sum = 0;

	for (int64_t j = starts[query]; j < starts[query + 1] && document->count; j++) {
		int64_t column = j - g->from;
		double least =
		    (double)w->best[column] - 2 * error_of(m, j, document->norm);
		double most = -INFINITY;
		for (int64_t i = 0; i < document->count; i++) {
			if ((double)document->products[i * g->vectors + column] < least)
				continue;
			most =
			    fmax(most, similarity_dot(m->queries->vectors + j * m->width,
					   document->vectors + i * m->width, m->width));
		}
		sum += most;
	}
	return (float)(m->mean && vectors ? sum / (double)vectors : sum);
}

/* Whether the document may be a hit of the query, by the sum of its best products. */
static bool
may_be_hit(const struct token_search *m, const struct token_worker *w,
    const struct query_group *g, int64_t query, double norm, double least)
{
	const int64_t *starts = m->queries->starts;
	int64_t vectors = starts[query + 1] - starts[query];
	double sum = 0;
	const float *best = w->best + (starts[query] - g->from);

#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < vectors; j++)
		sum += (double)best[j];
	double errors = m->error * m->sums[query] * norm +
			(double)vectors * m->width * (double)FLT_MIN;
	/* a score is rounded to float32 */
	least -= fabs(least) * (double)FLT_EPSILON;
	if (m->mean && vectors)
		least *= (double)vectors;
	return !(sum + errors < least);
}

/* A group of queries, and chunks of documents that threads take. */
struct token_scan {
	const struct search *search;
	const struct vector_lists *documents;
	double norm;
	const int64_t *chunks; /* [count + 1], their first documents */
	struct query_group group;
};

static void
scan_chunk(void *context, size_t which, size_t chunk)
{
	const struct token_scan *s = context;
	struct token_search *m = s->search->tokens;
	struct token_worker *w = &m->workers[which];
	const int64_t *starts = s->documents->starts;
	int64_t first = s->chunks[chunk], end = s->chunks[chunk + 1],
		from = starts[first];
	const float *vectors = s->documents->vectors + from * m->width;

	multiply(m, w, &s->group, vectors, starts[end] - from);
	w->best = mem_grow(
	    w->best, &w->best_room, (size_t)s->group.vectors + 1, sizeof *w->best);
	for (int64_t d = first; d < end; d++) {
		int64_t at = starts[d] - from;
		struct token_document document = { vectors + at * m->width,
			w->products + at * s->group.vectors, starts[d + 1] - starts[d],
			s->norm };
		find_best(w->best, document.products, document.count, s->group.vectors);
		for (int64_t q = s->group.first; q < s->group.end; q++) {
			double least = (double)s->search->best[q].top.least;
			if (!may_be_hit(m, w, &s->group, q, document.norm, least))
				continue;
			w->found = mem_grow(w->found, &w->found_room,
			    (size_t)w->count + 1, sizeof *w->found);
			w->found[w->count++] = (struct token_hit){ q, d,
				(double)exact(m, w, &s->group, q, &document) };
		}
	}
}

/* Cuts the documents into chunks; returns their number.  The caller frees *chunks. */
static size_t
cut(const struct vector_lists *documents, int64_t **chunks)
{
	int64_t most = nn_device() ? DEVICE_VECTORS : DOCUMENT_VECTORS;
	size_t count = 0;

	*chunks = mem_new((size_t)documents->count + 1, sizeof **chunks);
	(*chunks)[0] = 0;
	while ((*chunks)[count] < documents->count) {
		int64_t first = (*chunks)[count], end = first + 1;
		while (end < documents->count &&
		       documents->starts[end + 1] - documents->starts[first] <= most)
			end++;
		(*chunks)[++count] = end;
	}
	return count;
}

static void
take_found(const struct search *search)
{
	for (size_t i = 0; i < nn_workers(); i++) {
		struct token_worker *w = &search->tokens->workers[i];
		for (int64_t j = 0; j < w->count; j++)
			search_take(search, w->found[j].query,
			    search->seen + w->found[j].document, w->found[j].score);
		w->count = 0;
	}
}

void
search_tokens_add(
    struct search *search, const struct vector_lists *documents, double norm)
{
	const struct vector_lists *queries = search->tokens->queries;
	int64_t *chunks;
	size_t count = cut(documents, &chunks);

	search_count(search, documents->count);
	for (int64_t first = 0; first < queries->count;) {
		struct token_scan s = { search, documents, norm, chunks,
			group_of(queries, first) };
		nn_parallel_for(count, scan_chunk, &s);
		take_found(search);
		first = s.group.end;
	}
	search->seen += documents->count;
	free(chunks);
}

float
search_tokens_score(struct search *search, int64_t query,
    const struct vector_lists *documents, double norm)
{
	struct token_search *m = search->tokens;
	struct token_worker *w = &m->workers[0];
	const int64_t *starts = m->queries->starts;
	struct query_group g = { query, query + 1, starts[query],
		starts[query + 1] - starts[query] };
	int64_t from = documents->starts[documents->count - 1];
	const float *vectors = documents->vectors + from * m->width;
	int64_t count = vector_lists_vectors(documents) - from;

	multiply(m, w, &g, vectors, count);
	w->best =
	    mem_grow(w->best, &w->best_room, (size_t)g.vectors + 1, sizeof *w->best);
	find_best(w->best, w->products, count, g.vectors);
	return exact(m, w, &g, query,
	    &(struct token_document){ vectors, w->products, count, norm });
}

void
token_search_free(struct token_search *m)
{
	for (size_t i = 0; i < nn_workers(); i++) {
		struct token_worker *w = &m->workers[i];
		free(w->products);
		free(w->best);
		free(w->found);
		nn_free(w->documents_at, w->documents_size);
		nn_free(w->products_at, w->products_size);
	}
	if (m->copied)
		nn_free((void *)m->queries_at, queries_bytes(m));
	free(m->workers);
	free(m->norms);
	free(m->sums);
	free(m);
}
