#include "search/search.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "search/search_internal.h"
#include "search/search_tokens.h"
#include "search/similarity.h"

enum { FIRST_DOCUMENTS = 512 /* of the first step, when no threshold is known */ };

/* Queries that one worker handles at a time, and the next documents of the block for them. */
struct tile {
	int64_t query, queries, next, documents;
	bool taken;
};

/* A worker's buffers: in memory of the kernels (CPU or GPU), and host copies. */
struct worker {
	float *scores, *thresholds; /* [queries, documents]; [queries] */
	int32_t *starts, *columns;  /* of nn_not_below */
	float *host_thresholds;
	int32_t *host_starts, *host_columns;
	size_t columns_size;
};

/* One tile more than workers: a worker that finishes a tile finds another one free, so none is far behind
 * at the end of a block, even if it shares its core with the thread that reads the next block. */
static int64_t
queries_of_tile(int64_t count)
{
	int64_t tiles = (int64_t)nn_workers() + 1, share = (count + tiles - 1) / tiles;
	int64_t most = (int64_t)nn_chunk_rows();

	return share < most ? share : most;
}

/* Maximum number of (query, document) pairs in a worker's buffers. */
static size_t
pairs_of_worker(int64_t count)
{
	return (size_t)queries_of_tile(count) * nn_chunk_rows();
}

size_t
search_memory(int64_t count, int64_t depth)
{
	size_t hits =
	    mem_multiply((size_t)top_hits_room(depth), sizeof(struct hit), "search");
	size_t queries =
	    mem_multiply((size_t)count, hits + sizeof(struct query_hits), "search");
	size_t pair = sizeof(float) + 2 * sizeof(int32_t);

	/* a GPU keeps the scores in its own memory, and few columns are downloaded */
	return nn_device() ? queries
			   : mem_add(queries,
				 nn_workers() * pairs_of_worker(count) * pair, "search");
}

static void
cut_tiles(struct search *search)
{
	int64_t size = queries_of_tile(search->count);

	search->tile_count = (search->count + size - 1) / size;
	search->tiles = mem_new((size_t)search->tile_count, sizeof *search->tiles);
	for (int64_t i = 0; i < search->tile_count; i++) {
		int64_t first = i * size, left = search->count - first;
		search->tiles[i] =
		    (struct tile){ .query = first, .queries = left < size ? left : size };
	}
}

static void
make_worker(struct worker *worker, int64_t count)
{
	size_t queries = (size_t)queries_of_tile(count), pairs = pairs_of_worker(count);

	*worker = (struct worker){ .scores = nn_alloc(pairs * sizeof *worker->scores),
		.columns = nn_alloc(pairs * sizeof *worker->columns),
		.thresholds = nn_alloc(queries * sizeof *worker->thresholds),
		.starts = nn_alloc((queries + 1) * sizeof *worker->starts),
		.host_thresholds = mem_new(queries, sizeof *worker->host_thresholds),
		.host_starts = mem_new(queries + 1, sizeof *worker->host_starts) };
}

static void
free_worker(struct worker *worker, int64_t count)
{
	size_t queries = (size_t)queries_of_tile(count), pairs = pairs_of_worker(count);

	nn_free(worker->scores, pairs * sizeof *worker->scores);
	nn_free(worker->columns, pairs * sizeof *worker->columns);
	nn_free(worker->thresholds, queries * sizeof *worker->thresholds);
	nn_free(worker->starts, (queries + 1) * sizeof *worker->starts);
	free(worker->host_thresholds);
	free(worker->host_starts);
	free(worker->host_columns);
}

static size_t
queries_bytes(const struct search *search)
{
	return (size_t)search->count * (size_t)search->width * sizeof *search->queries;
}

struct search *
search_begin(int64_t count, int64_t depth, float threshold, search_order *order,
    const void *context)
{
	struct search *search = mem_zero(1, sizeof *search);

	search->count = count;
	search->ranking = (struct hit_ranking){ depth, order, context, false };
	int64_t room = top_hits_room(depth);
	search->memory = mem_new(
	    mem_multiply((size_t)count, (size_t)room, "search"), sizeof *search->memory);
	search->best = mem_new((size_t)count, sizeof *search->best);
	for (int64_t i = 0; i < count; i++)
		search->best[i] =
		    (struct query_hits){ { search->memory + i * room, 0, threshold },
			    UINT32_MAX, 0 };
	return search;
}

struct search *
search_new(const float *queries, int64_t count, int width, int64_t depth, float threshold,
    search_order *order, const void *context)
{
	struct search *search = search_begin(count, depth, threshold, order, context);

	search->queries = queries;
	search->width = width;
	for (int64_t i = 0; i < count; i++) {
		const float *query = queries + i * width;
		search->best[i].norm = sqrt(similarity_dot(query, query, width));
	}
	search->queries_at = nn_bytes_of(
	    queries, queries_bytes(search), sizeof *queries, &search->queries_copied);
	cut_tiles(search);
	search->workers = mem_new(nn_workers(), sizeof *search->workers);
	for (size_t i = 0; i < nn_workers(); i++)
		make_worker(&search->workers[i], count);
	return search;
}

/* A block of documents being searched. */
struct block_scan {
	struct search *search;
	const float *documents, *at; /* on the host; in memory of the kernels */
	int64_t count;
	double norm;
};

void
search_passages(struct search *search)
{
	search->ranking.passages = true;
}

void
search_take(const struct search *search, int64_t query, int64_t document, double exact)
{
	struct query_hits *best = &search->best[query];
	float score = isnan(exact) ? -1 : (float)exact;

	if (!top_hits_same(&search->ranking, (uint32_t)document, best->excluded))
		top_hits_put(&best->top, &search->ranking,
		    (struct hit){ score, (uint32_t)document });
}

/* Rescores the candidates of queries first .. last-1 of a tile in double: four at a time, so that their sums run in
 * parallel. */
static void
rescore(const struct block_scan *block, const struct tile *tile,
    const struct worker *worker, int64_t first, int64_t last)
{
	enum { AT_ONCE = 4 };
	const struct search *search = block->search;
	const int32_t *starts = worker->host_starts, *columns = worker->host_columns;
	const float *query[AT_ONCE], *document[AT_ONCE];
	int64_t row[AT_ONCE], number[AT_ONCE];
	double exact[AT_ONCE];

	for (int32_t i = starts[first], end = starts[last]; i < end; i += AT_ONCE) {
		for (int j = 0; j < AT_ONCE; j++) { /* the last one repeats at the end */
			int32_t which = i + j < end ? i + j : end - 1;
			while (starts[first + 1] <= which)
				first++;
			row[j] = tile->query + first;
			number[j] = tile->next + columns[which];
			query[j] = search->queries + row[j] * search->width;
			document[j] = block->documents + number[j] * search->width;
		}
		similarity_dots(exact, query, document, search->width);
		for (int j = 0; j < AT_ONCE && i + j < end; j++)
			search_take(search, row[j], search->seen + number[j], exact[j]);
	}
}

/* The thresholds of the float32 scores: the best hits' minimum less the rounding error of the GEMM and of flushed
 * denormals. */
static void
find_thresholds(
    const struct block_scan *block, const struct tile *tile, float *thresholds)
{
	double error = nn_product_error((size_t)block->search->width) * block->norm;
	double lost = (double)block->search->width * (double)FLT_MIN;

	for (int64_t i = 0; i < tile->queries; i++) {
		const struct query_hits *best = &block->search->best[tile->query + i];
		double slack = error * best->norm + lost;
		thresholds[i] =
		    best->top.least - (isfinite(slack) ? (float)slack : INFINITY);
	}
}

/* Downloads the host_starts[queries] columns above the thresholds. */
static void
take_columns(struct worker *worker, int64_t queries)
{
	size_t bytes =
	    (size_t)worker->host_starts[queries] * sizeof *worker->host_columns;

	if (bytes > worker->columns_size) { /* the first step has the most */
		worker->columns_size = bytes;
		free(worker->host_columns);
		worker->host_columns = mem_new(worker->columns_size, 1);
	}
	nn_download(worker->host_columns, worker->columns, bytes);
}

/* Searches the tile's next documents. */
static void
scan_tile(const struct block_scan *block, const struct tile *tile, struct worker *worker)
{
	enum { SHARE = 32 /* queries */ };
	const struct search *search = block->search;
	size_t queries = (size_t)tile->queries, documents = (size_t)tile->documents;
	size_t width = (size_t)search->width;

	find_thresholds(block, tile, worker->host_thresholds);
	nn_upload(worker->thresholds, worker->host_thresholds,
	    queries * sizeof *worker->thresholds);
	nn_product_nt(worker->scores, search->queries_at + (size_t)tile->query * width,
	    block->at + (size_t)tile->next * width, queries, documents, width, 1, 0);
	nn_not_below(worker->starts, worker->columns, worker->scores, worker->thresholds,
	    queries, documents);
	nn_download(
	    worker->host_starts, worker->starts, (queries + 1) * sizeof *worker->starts);
	take_columns(worker, tile->queries);
#pragma omp parallel for schedule(dynamic)
	for (int64_t first = 0; first < tile->queries; first += SHARE)
		rescore(block, tile, worker, first,
		    tile->queries - first < SHARE ? tile->queries : first + SHARE);
}

/* Steps grow, because of the first documents nearly all are candidates. */
static int64_t
next_documents(const struct block_scan *block, const struct tile *tile)
{
	int64_t most = (int64_t)nn_chunk_rows(), left = block->count - tile->next;
	int64_t before = block->search->seen + tile->next;

	before = before < FIRST_DOCUMENTS ? FIRST_DOCUMENTS : before;
	most = most < before ? most : before;
	return most < left ? most : left;
}

/* Claims the free tile that is furthest behind; NULL: none is left. */
static struct tile *
take_tile(const struct block_scan *block)
{
	struct search *search = block->search;
	struct tile *found = NULL;

	for (int64_t i = 0; i < search->tile_count; i++) {
		struct tile *tile = &search->tiles[i];
		if (!tile->taken && tile->next < block->count &&
		    (!found || tile->next < found->next))
			found = tile;
	}
	if (found) {
		found->taken = true;
		found->documents = next_documents(block, found);
	}
	return found;
}

static void
give_back(struct tile *tile)
{
	tile->next += tile->documents;
	tile->taken = false;
}

static void
work(void *context, size_t which, size_t i)
{
	struct block_scan *block = context;

	(void)i;
	for (struct tile *tile = NULL;;) {
#pragma omp critical(tiles)
		{
			if (tile)
				give_back(tile);
			tile = take_tile(block);
		}
		if (!tile)
			break;
		scan_tile(block, tile, &block->search->workers[which]);
	}
}

void
search_exclude(struct search *search, int64_t query, uint32_t document)
{
	search->best[query].excluded = document;
}

struct hits
search_hits(const struct search *search, int64_t query)
{
	const struct top_hits *top = &search->best[query].top;

	return (struct hits){ top->hits, top->count };
}

void
search_count(const struct search *search, int64_t documents)
{
	if (documents > UINT32_MAX - search->seen)
		die("search: more than %u documents", UINT32_MAX);
}

void
search_add(struct search *search, const float *documents, int64_t count, double norm)
{
	size_t bytes = (size_t)count * (size_t)search->width * sizeof *documents;
	struct block_scan block = { search, documents, NULL, count, norm };
	bool copied;

	search_count(search, count);
	for (int64_t i = 0; i < search->tile_count; i++)
		search->tiles[i].next = 0;
	block.at = nn_bytes_of(documents, bytes, sizeof *documents, &copied);
	nn_parallel_for(nn_workers(), work, &block);
	if (copied)
		nn_free((void *)block.at, bytes);
	search->seen += count;
}

struct hit *
search_finish(struct search *search, struct hits *hits)
{
	struct hit *memory = search->memory;

#pragma omp parallel for schedule(dynamic)
	for (int64_t query = 0; query < search->count; query++) {
		struct top_hits *top = &search->best[query].top;
		top_hits_sort(top, &search->ranking);
		hits[query] = (struct hits){ top->hits, top->count };
	}
	for (size_t i = 0; search->workers && i < nn_workers(); i++)
		free_worker(&search->workers[i], search->count);
	free(search->workers);
	if (search->tokens)
		token_search_free(search->tokens);
	if (search->queries_copied)
		nn_free((void *)search->queries_at, queries_bytes(search));
	free(search->tiles);
	free(search->best);
	free(search);
	return memory;
}
