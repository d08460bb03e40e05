#include "search/search.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "search/similarity.h"

enum { FIRST_DOCUMENTS = 512 /* past a tile, before anything is known of its best */ };

/* The hits of one query, cut back to the best `depth` when there is no more room. */
struct best {
	struct hit *hits;
	int64_t count;
	float
	    least; /* score of the worst that stays; the threshold until `depth` were seen */
	uint32_t excluded; /* document; none: UINT32_MAX */
	double norm;
};

/* Queries that one worker takes at a time, and the next documents of the block for them. */
struct tile {
	int64_t query, queries, next, documents;
	bool taken;
};

/* What one worker has for itself: in memory of the kernels, and what of it the host reads and writes. */
struct worker {
	float *scores, *gates;	   /* [queries, documents]; [queries] */
	int32_t *starts, *columns; /* of nn_not_below */
	float *host_gates;
	int32_t *host_starts, *host_columns;
	size_t columns_size;
};

struct search {
	const float *queries, *queries_at; /* of the host; in memory of the kernels */
	bool queries_copied;
	int64_t count, depth, capacity, seen;
	int width;
	search_order *order;
	const void *context;
	struct hit *memory;
	struct best *best;
	struct tile *tiles;
	int64_t tile_count;
	struct worker *workers;
};

/* Room for newcomers: a rare cut leaves the gate low, a frequent one sorts often. */
static int64_t
room_for(int64_t depth)
{
	return depth + (depth > 16 ? depth / 4 : 4);
}

/* One tile more than workers: who is done with a piece finds another that waits, and none is
 * far behind at the end of a block though it shares its core with who reads the next. */
static int64_t
queries_of_tile(int64_t count)
{
	int64_t tiles = (int64_t)nn_workers() + 1, share = (count + tiles - 1) / tiles;
	int64_t most = (int64_t)nn_chunk_rows();

	return share < most ? share : most;
}

/* What a worker has of each pair of a tile's queries and documents. */
static size_t
pairs_of_worker(int64_t count)
{
	return (size_t)queries_of_tile(count) * nn_chunk_rows();
}

size_t
search_memory(int64_t count, int64_t depth)
{
	size_t hits = mem_multiply((size_t)room_for(depth), sizeof(struct hit), "search");
	size_t queries =
	    mem_multiply((size_t)count, hits + sizeof(struct best), "search");
	size_t pair = sizeof(float) + 2 * sizeof(int32_t);

	/* a device has the scores in memory of its own, and few of the columns come back */
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
		.gates = nn_alloc(queries * sizeof *worker->gates),
		.starts = nn_alloc((queries + 1) * sizeof *worker->starts),
		.host_gates = mem_new(queries, sizeof *worker->host_gates),
		.host_starts = mem_new(queries + 1, sizeof *worker->host_starts) };
}

static void
free_worker(struct worker *worker, int64_t count)
{
	size_t queries = (size_t)queries_of_tile(count), pairs = pairs_of_worker(count);

	nn_free(worker->scores, pairs * sizeof *worker->scores);
	nn_free(worker->columns, pairs * sizeof *worker->columns);
	nn_free(worker->gates, queries * sizeof *worker->gates);
	nn_free(worker->starts, (queries + 1) * sizeof *worker->starts);
	free(worker->host_gates);
	free(worker->host_starts);
	free(worker->host_columns);
}

static size_t
queries_bytes(const struct search *search)
{
	return (size_t)search->count * (size_t)search->width * sizeof *search->queries;
}

struct search *
search_new(const float *queries, int64_t count, int width, int64_t depth, float threshold,
    search_order *order, const void *context)
{
	struct search *search = mem_zero(1, sizeof *search);

	search->queries = queries;
	search->count = count;
	search->width = width;
	search->depth = depth;
	search->capacity = room_for(depth);
	search->order = order;
	search->context = context;
	search->memory =
	    mem_new(mem_multiply((size_t)count, (size_t)search->capacity, "search"),
		sizeof *search->memory);
	search->best = mem_new((size_t)count, sizeof *search->best);
	for (int64_t i = 0; i < count; i++) {
		const float *query = queries + i * width;
		search->best[i] =
		    (struct best){ search->memory + i * search->capacity, 0, threshold,
			    UINT32_MAX, sqrt(similarity_dot(query, query, width)) };
	}
	search->queries_at = nn_bytes_of(
	    queries, queries_bytes(search), sizeof *queries, &search->queries_copied);
	cut_tiles(search);
	search->workers = mem_new(nn_workers(), sizeof *search->workers);
	for (size_t i = 0; i < nn_workers(); i++)
		make_worker(&search->workers[i], count);
	return search;
}

static int
compare(const struct search *search, struct hit a, struct hit b)
{
	if (a.score != b.score)
		return a.score > b.score ? -1 : 1;
	return a.document == b.document
		   ? 0
		   : -search->order(search->context, a.document, b.document);
}

static void
swap(struct hit *a, struct hit *b)
{
	struct hit old = *a;

	*a = *b;
	*b = old;
}

/* Hoare's selection: afterwards the first `depth` hits are the best ones, the last of them worst. */
static void
select_best(const struct search *search, struct hit *hits, int64_t count)
{
	int64_t low = 0, high = count - 1, wanted = search->depth - 1;

	while (low < high) {
		struct hit pivot = hits[low + (high - low) / 2];
		int64_t i = low, j = high;
		while (i <= j) {
			while (compare(search, hits[i], pivot) < 0)
				i++;
			while (compare(search, hits[j], pivot) > 0)
				j--;
			if (i <= j)
				swap(&hits[i++], &hits[j--]);
		}
		if (wanted <= j)
			high = j;
		else if (wanted >= i)
			low = i;
		else
			break;
	}
}

static void
cut_back(const struct search *search, struct best *best)
{
	select_best(search, best->hits, best->count);
	best->count = search->depth;
	best->least = best->hits[search->depth - 1].score;
}

/* The block of documents that passes. */
struct block {
	struct search *search;
	const float *documents, *at; /* of the host; in memory of the kernels */
	int64_t count;
	double norm;
};

static void
take_score(const struct search *search, int64_t query, int64_t document, double exact)
{
	struct best *best = &search->best[query];
	float score = isnan(exact) ? -1 : (float)exact;

	if (score < best->least || document == best->excluded)
		return;
	best->hits[best->count++] = (struct hit){ score, (uint32_t)document };
	if (best->count == search->capacity)
		cut_back(search, best);
}

/* What was found for the queries first .. last-1 of a tile is scored exactly: four at a time, whose sums do not wait for
 * each other. */
static void
settle(const struct block *block, const struct tile *tile, const struct worker *worker,
    int64_t first, int64_t last)
{
	enum { AT_ONCE = 4 };
	const struct search *search = block->search;
	const int32_t *starts = worker->host_starts, *columns = worker->host_columns;
	const float *query[AT_ONCE], *document[AT_ONCE];
	int64_t row[AT_ONCE], number[AT_ONCE];
	double exact[AT_ONCE];

	for (int32_t i = starts[first], end = starts[last]; i < end; i += AT_ONCE) {
		for (int j = 0; j < AT_ONCE; j++) { /* at the end the last one again */
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
			take_score(search, row[j], search->seen + number[j], exact[j]);
	}
}

/* What products of the tile's queries with documents have to reach, though they may be a little off, and what is less
 * than the least normal float be lost. */
static void
find_gates(const struct block *block, const struct tile *tile, float *gates)
{
	double error = nn_product_error((size_t)block->search->width) * block->norm;
	double lost = (double)block->search->width * (double)FLT_MIN;

	for (int64_t i = 0; i < tile->queries; i++) {
		const struct best *best = &block->search->best[tile->query + i];
		double slack = error * best->norm + lost;
		gates[i] = best->least - (isfinite(slack) ? (float)slack : INFINITY);
	}
}

/* The columns that were found, of which there are host_starts[queries]. */
static void
take_columns(struct worker *worker, int64_t queries)
{
	size_t bytes =
	    (size_t)worker->host_starts[queries] * sizeof *worker->host_columns;

	if (bytes > worker->columns_size) { /* the first documents have the most */
		worker->columns_size = bytes;
		free(worker->host_columns);
		worker->host_columns = mem_new(worker->columns_size, 1);
	}
	nn_download(worker->host_columns, worker->columns, bytes);
}

/* The next documents past a tile of queries. */
static void
pass(const struct block *block, const struct tile *tile, struct worker *worker)
{
	enum { SHARE = 32 /* queries */ };
	const struct search *search = block->search;
	size_t queries = (size_t)tile->queries, documents = (size_t)tile->documents;
	size_t width = (size_t)search->width;

	find_gates(block, tile, worker->host_gates);
	nn_upload(worker->gates, worker->host_gates, queries * sizeof *worker->gates);
	nn_product_nt(worker->scores, search->queries_at + (size_t)tile->query * width,
	    block->at + (size_t)tile->next * width, queries, documents, width, 1, 0);
	nn_not_below(worker->starts, worker->columns, worker->scores, worker->gates,
	    queries, documents);
	nn_download(
	    worker->host_starts, worker->starts, (queries + 1) * sizeof *worker->starts);
	take_columns(worker, tile->queries);
#pragma omp parallel for schedule(dynamic)
	for (int64_t first = 0; first < tile->queries; first += SHARE)
		settle(block, tile, worker, first,
		    tile->queries - first < SHARE ? tile->queries : first + SHARE);
}

/* More and more documents: at first all may be among the best. */
static int64_t
next_documents(const struct block *block, const struct tile *tile)
{
	int64_t most = (int64_t)nn_chunk_rows(), left = block->count - tile->next;
	int64_t before = block->search->seen + tile->next;

	before = before < FIRST_DOCUMENTS ? FIRST_DOCUMENTS : before;
	most = most < before ? most : before;
	return most < left ? most : left;
}

/* The free tile that is furthest behind; NULL: no work for one more worker. */
static struct tile *
take_tile(const struct block *block)
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
	struct block *block = context;

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
		pass(block, tile, &block->search->workers[which]);
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
	return (struct hits){ search->best[query].hits, search->best[query].count };
}

void
search_add(struct search *search, const float *documents, int64_t count, double norm)
{
	size_t bytes = (size_t)count * (size_t)search->width * sizeof *documents;
	struct block block = { search, documents, NULL, count, norm };
	bool copied;

	if (count > UINT32_MAX - search->seen)
		die("search: more than %u documents", UINT32_MAX);
	for (int64_t i = 0; i < search->tile_count; i++)
		search->tiles[i].next = 0;
	block.at = nn_bytes_of(documents, bytes, sizeof *documents, &copied);
	nn_parallel_for(nn_workers(), work, &block);
	if (copied)
		nn_free((void *)block.at, bytes);
	search->seen += count;
}

/* glibc's qsort_r; the tie rule needs the context. */
static int
by_rank(const void *a, const void *b, void *search)
{
	return compare(search, *(const struct hit *)a, *(const struct hit *)b);
}

struct hit *
search_finish(struct search *search, struct hits *hits)
{
	struct hit *memory = search->memory;

#pragma omp parallel for schedule(dynamic)
	for (int64_t query = 0; query < search->count; query++) {
		struct best *best = &search->best[query];
		if (best->count > search->depth)
			cut_back(search, best);
		qsort_r(
		    best->hits, (size_t)best->count, sizeof *best->hits, by_rank, search);
		hits[query] = (struct hits){ best->hits, best->count };
	}
	for (size_t i = 0; i < nn_workers(); i++)
		free_worker(&search->workers[i], search->count);
	free(search->workers);
	if (search->queries_copied)
		nn_free((void *)search->queries_at, queries_bytes(search));
	free(search->tiles);
	free(search->best);
	free(search);
	return memory;
}
