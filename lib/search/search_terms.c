#include "search/search_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "search/search_internal.h"

enum { QUERIES = 16 /* that a worker takes at a time */ };

/* A block of documents by terms: the documents of term t are document and weight starts[t] .. starts[t+1]-1, ascending. */
struct inverted {
	int64_t *starts; /* [terms + 1] */
	int64_t terms;	 /* greatest id + 1 */
	uint32_t *document;
	float *weight;
	int64_t documents;
};

struct terms_scan {
	const struct search *search;
	const struct inverted *block;
	double **sums; /* [workers], [documents], all 0 between two queries */
};

struct search *
search_terms_new(const struct term_rows *queries, int64_t depth, float threshold,
    search_order *order, const void *context)
{
	struct search *search =
	    search_begin(queries->count, depth, threshold, order, context);

	search->terms = queries;
	return search;
}

static struct inverted
invert(const struct term_rows *rows)
{
	struct inverted block = { .documents = rows->count };
	int64_t count = rows->starts[rows->count];

	for (int64_t i = 0; i < count; i++)
		if (rows->ids[i] >= block.terms)
			block.terms = rows->ids[i] + 1;
	block.starts = mem_zero((size_t)block.terms + 2, sizeof *block.starts);
	block.document = mem_new((size_t)count, sizeof *block.document);
	block.weight = mem_new((size_t)count, sizeof *block.weight);
	/* starts[t + 2] counts, then starts[t + 1] is the next place of term t, which ends as the start of the next */
	for (int64_t i = 0; i < count; i++)
		if (rows->ids[i] + 2 <= block.terms)
			block.starts[rows->ids[i] + 2]++;
	for (int64_t t = 2; t <= block.terms; t++)
		block.starts[t] += block.starts[t - 1];
	for (int64_t d = 0; d < rows->count; d++)
		for (int64_t i = rows->starts[d]; i < rows->starts[d + 1]; i++) {
			int64_t at = block.starts[rows->ids[i] + 1]++;
			block.document[at] = (uint32_t)d;
			block.weight[at] = rows->weights[i];
		}
	return block;
}

/* Adds a query's products with the documents to their sums. */
static void
add_products(const struct inverted *block, const struct term_rows *queries, int64_t query,
    double *sums)
{
	for (int64_t i = queries->starts[query]; i < queries->starts[query + 1]; i++) {
		int64_t term = queries->ids[i];
		double weight = queries->weights[i];
		if (term >= block->terms)
			break;
		for (int64_t at = block->starts[term]; at < block->starts[term + 1]; at++)
			sums[block->document[at]] += weight * block->weight[at];
	}
}

static void
scan_query(const struct terms_scan *scan, int64_t query, double *sums)
{
	const struct search *search = scan->search;
	const struct top_hits *top = &search->best[query].top;

	add_products(scan->block, search->terms, query, sums);
	for (int64_t d = 0; d < scan->block->documents; d++)
		if ((float)sums[d] >= top->least)
			search_take(search, query, search->seen + d, sums[d]);
	memset(sums, 0, (size_t)scan->block->documents * sizeof *sums);
}

static void
scan_queries(void *context, size_t worker, size_t i)
{
	const struct terms_scan *scan = context;
	int64_t first = (int64_t)i * QUERIES, count = scan->search->count;

	if (!scan->sums[worker])
		scan->sums[worker] =
		    mem_zero((size_t)scan->block->documents, sizeof **scan->sums);
	for (int64_t query = first; query < count && query < first + QUERIES; query++)
		scan_query(scan, query, scan->sums[worker]);
}

void
search_terms_add(struct search *search, const struct term_rows *documents)
{
	search_count(search, documents->count);
	struct inverted block = invert(documents);
	struct terms_scan scan = { search, &block,
		mem_zero(nn_workers(), sizeof *scan.sums) };

	nn_parallel_for(
	    ((size_t)search->count + QUERIES - 1) / QUERIES, scan_queries, &scan);
	search->seen += documents->count;
	for (size_t i = 0; i < nn_workers(); i++)
		free(scan.sums[i]);
	free(scan.sums);
	free(block.starts);
	free(block.document);
	free(block.weight);
}
