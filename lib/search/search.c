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

struct search {
	const float *queries;
	int64_t count, depth, capacity, seen;
	int width;
	search_order *order;
	const void *context;
	struct hit *memory;
	struct best *best;
	float **tiles; /* [threads] */
	int threads;
};

/* Room for newcomers: a rare cut leaves the gate low, a frequent one sorts often. */
static int64_t
room_for(int64_t depth)
{
	return depth + (depth > 16 ? depth / 4 : 4);
}

/* How many queries a thread takes at once. */
static int64_t
query_tile(int64_t count, int threads)
{
	int64_t share = (count + threads - 1) / threads;

	return share < QUERY_TILE ? share : QUERY_TILE;
}

size_t
search_memory(int64_t count, int64_t depth)
{
	size_t hits = mem_multiply((size_t)room_for(depth), sizeof(struct hit), "search");
	int threads = omp_get_max_threads();
	size_t tiles = (size_t)threads * (size_t)query_tile(count, threads) *
		       DOCUMENT_TILE * sizeof(float);

	return mem_add(mem_multiply((size_t)count, hits + sizeof(struct best), "search"),
	    tiles, "search");
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
	search->threads = omp_get_max_threads();
	search->tiles = mem_new((size_t)search->threads, sizeof *search->tiles);
	for (int i = 0; i < search->threads; i++)
		search->tiles[i] = mem_new((size_t)query_tile(count, search->threads),
		    DOCUMENT_TILE * sizeof(float));
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

/* All documents of the block past one tile of queries. */
static void
pass(const struct search *search, int64_t query, int64_t queries, const float *documents,
    int64_t count, double norm, float *scores)
{
	struct guesses guesses = { .count = 0 };
	int width = search->width;

	for (int64_t first = 0; first < count; first += DOCUMENT_TILE) {
		int64_t some =
		    count - first < DOCUMENT_TILE ? count - first : DOCUMENT_TILE;
		const float *tile = documents + first * width;
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)queries,
		    (int)some, width, 1, search->queries + query * width, width, tile,
		    width, 0, scores, (int)some);
		for (int64_t i = 0; i < queries; i++) {
			/* bound of the rounding error of a float32 sum of `width` products */
			double slack =
			    (width + 4) * 0x1p-24 * norm * search->best[query + i].norm;
			scan(search, &guesses, query + i, scores + i * some, documents,
			    some, first, isfinite(slack) ? (float)slack : INFINITY);
		}
		settle(search, &guesses, documents);
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
	if (count > UINT32_MAX - search->seen)
		die("search: more than %u documents", UINT32_MAX);
	int64_t tile = query_tile(search->count, search->threads);

#pragma omp parallel for schedule(dynamic)
	for (int64_t query = 0; query < search->count; query += tile) {
		int64_t queries =
		    search->count - query < tile ? search->count - query : tile;
		pass(search, query, queries, documents, count, norm,
		    search->tiles[omp_get_thread_num()]);
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
	for (int i = 0; i < search->threads; i++)
		free(search->tiles[i]);
	free(search->tiles);
	free(search->best);
	free(search);
	return memory;
}
