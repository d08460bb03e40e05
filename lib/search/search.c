#include "search/search.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/similarity.h"

enum { QUERY_TILE = 512, DOCUMENT_TILE = 512 };

/* The hits of one query, cut back to the best `depth` when there is no more room. */
struct best {
	struct hit *hits;
	int64_t count;
	float
	    least; /* score of the worst that stays; the threshold until `depth` were seen */
	uint32_t excluded; /* document; none: UINT32_MAX */
	double norm;
};

/* Queries that one thread takes at a time, and the next document of the block for them. */
struct tile {
	int64_t query, queries, next;
	bool taken;
	float *scores; /* [queries, DOCUMENT_TILE] */
};

struct search {
	const float *queries;
	int64_t count, depth, capacity, seen;
	int width;
	search_order *order;
	const void *context;
	struct hit *memory;
	struct best *best;
	struct tile *tiles;
	int64_t tile_count;
};

/* Room for newcomers: a rare cut leaves the gate low, a frequent one sorts often. */
static int64_t
room_for(int64_t depth)
{
	return depth + (depth > 16 ? depth / 4 : 4);
}

/* One tile more than threads: who is done with a piece finds another that waits, and no thread is
 * far behind at the end of a block though one shares its core with who reads the next. */
static int64_t
queries_of_tile(int64_t count)
{
	int64_t tiles = omp_get_max_threads() + 1, share = (count + tiles - 1) / tiles;

	return share < QUERY_TILE ? share : QUERY_TILE;
}

size_t
search_memory(int64_t count, int64_t depth)
{
	size_t hits = mem_multiply((size_t)room_for(depth), sizeof(struct hit), "search");
	size_t scores = DOCUMENT_TILE * sizeof(float);

	return mem_multiply((size_t)count, hits + sizeof(struct best) + scores, "search");
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
		search->tiles[i].scores = mem_new(
		    (size_t)search->tiles[i].queries, DOCUMENT_TILE * sizeof(float));
	}
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
	cut_tiles(search);
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

/* What may belong to the best, to be scored exactly: four at a time, whose sums do not wait for
 * each other. */
struct guess {
	int64_t query;
	int64_t document; /* of the block */
};
enum { GUESSES = 512, GROUP = 64, AT_ONCE = 4 };

struct guesses {
	struct guess at[GUESSES];
	int count;
};

static void
take_score(const struct search *search, struct guess guess, double exact)
{
	struct best *best = &search->best[guess.query];
	int64_t document = search->seen + guess.document;
	float score = isnan(exact) ? -1 : (float)exact;

	if (score < best->least || document == best->excluded)
		return;
	best->hits[best->count++] = (struct hit){ score, (uint32_t)document };
	if (best->count == search->capacity)
		cut_back(search, best);
}

static void
settle(const struct search *search, struct guesses *guesses, const float *documents)
{
	int width = search->width, i = 0;
	const float *query[AT_ONCE], *document[AT_ONCE];
	double exact[AT_ONCE];

	while (i < guesses->count) {
		for (int j = 0; j < AT_ONCE; j++) { /* at the end the last one again */
			int which = i + j < guesses->count ? i + j : guesses->count - 1;
			query[j] = search->queries + guesses->at[which].query * width;
			document[j] = documents + guesses->at[which].document * width;
		}
		similarity_dots(exact, query, document, width);
		for (int j = 0; j < AT_ONCE && i < guesses->count; j++)
			take_score(search, guesses->at[i++], exact[j]);
	}
	guesses->count = 0;
}

/* Look through a row of scores, of documents from `first` on in the block. */
static void
scan(const struct search *search, struct guesses *guesses, int64_t query,
    const float *scores, const float *documents, int64_t count, int64_t first,
    float slack)
{
	const struct best *best = &search->best[query];

	for (int64_t start = 0; start < count; start += GROUP) {
		int64_t end = start + GROUP < count ? start + GROUP : count;
		float gate = best->least - slack;
		int some = 0;
		for (int64_t i = start; i < end; i++)
			some |= !(scores[i] < gate);
		if (!some)
			continue;
		if (guesses->count > GUESSES - GROUP)
			settle(search, guesses, documents);
		for (int64_t i = start; i < end; i++) {
			guesses->at[guesses->count] = (struct guess){ query, first + i };
			guesses->count += !(scores[i] < gate);
		}
	}
}

/* The next documents past a tile of queries. */
static void
pass(const struct search *search, const struct tile *tile, const float *documents,
    int64_t count, double norm)
{
	struct guesses guesses = { .count = 0 };
	int width = search->width;
	int64_t some =
	    count - tile->next < DOCUMENT_TILE ? count - tile->next : DOCUMENT_TILE;

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)tile->queries,
	    (int)some, width, 1, search->queries + tile->query * width, width,
	    documents + tile->next * width, width, 0, tile->scores, (int)some);
	for (int64_t i = 0; i < tile->queries; i++) {
		/* bound of the rounding error of a float32 sum of `width` products */
		double slack =
		    (width + 4) * 0x1p-24 * norm * search->best[tile->query + i].norm;
		scan(search, &guesses, tile->query + i, tile->scores + i * some,
		    documents, some, tile->next,
		    isfinite(slack) ? (float)slack : INFINITY);
	}
	settle(search, &guesses, documents);
}

/* The free tile that is furthest behind; NULL: no work for one more thread. */
static struct tile *
take_tile(struct search *search, int64_t count)
{
	struct tile *found = NULL;

	for (int64_t i = 0; i < search->tile_count; i++) {
		struct tile *tile = &search->tiles[i];
		if (!tile->taken && tile->next < count &&
		    (!found || tile->next < found->next))
			found = tile;
	}
	if (found)
		found->taken = true;
	return found;
}

static void
give_back(struct tile *tile)
{
	tile->next += DOCUMENT_TILE;
	tile->taken = false;
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
	if (count > UINT32_MAX - search->seen)
		die("search: more than %u documents", UINT32_MAX);
	for (int64_t i = 0; i < search->tile_count; i++)
		search->tiles[i].next = 0;

#pragma omp parallel
	for (struct tile *tile = NULL;;) {
#pragma omp critical(tiles)
		{
			if (tile)
				give_back(tile);
			tile = take_tile(search, count);
		}
		if (!tile)
			break;
		pass(search, tile, documents, count, norm);
	}
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
	for (int64_t i = 0; i < search->tile_count; i++)
		free(search->tiles[i].scores);
	free(search->tiles);
	free(search->best);
	free(search);
	return memory;
}
