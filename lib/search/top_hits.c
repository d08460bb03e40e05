#include "search/top_hits.h"

#include <stdlib.h>

int64_t
top_hits_room(int64_t depth)
{
	return depth + (depth > 16 ? depth / 4 : 4);
}

bool
top_hits_same(const struct hit_ranking *ranking, uint32_t a, uint32_t b)
{
	return a == b || (ranking->passages && b != UINT32_MAX &&
			     !ranking->order(ranking->context, a, b));
}

static int
compare(const struct hit_ranking *ranking, struct hit a, struct hit b)
{
	if (a.score != b.score)
		return a.score > b.score ? -1 : 1;
	if (a.document == b.document)
		return 0;
	int order =
	    ranking->order ? ranking->order(ranking->context, a.document, b.document) : 0;
	return order ? -order : a.document < b.document ? -1 : 1;
}

static void
swap(struct hit *a, struct hit *b)
{
	struct hit old = *a;

	*a = *b;
	*b = old;
}

/* Hoare's selection: moves the best `depth` hits to the front, the worst of them last. */
static void
select_best(const struct hit_ranking *ranking, struct hit *hits, int64_t count)
{
	int64_t low = 0, high = count - 1, wanted = ranking->depth - 1;

	while (low < high) {
		struct hit pivot = hits[low + (high - low) / 2];
		int64_t i = low, j = high;
		while (i <= j) {
			while (compare(ranking, hits[i], pivot) < 0)
				i++;
			while (compare(ranking, hits[j], pivot) > 0)
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

/* glibc's qsort_r; the order needs the context. */
static int
by_document(const void *a, const void *b, void *context)
{
	const struct hit_ranking *ranking = context;
	const struct hit *x = a, *y = b;
	int order = ranking->order(ranking->context, x->document, y->document);

	return order ? order : compare(ranking, *x, *y);
}

/* Keeps the best passage of each document. */
static void
keep_best(struct top_hits *top, const struct hit_ranking *ranking)
{
	int64_t kept = 0;

	qsort_r(top->hits, (size_t)top->count, sizeof *top->hits, by_document,
	    (void *)ranking);
	for (int64_t i = 0; i < top->count; i++)
		if (!kept || !top_hits_same(ranking, top->hits[i].document,
				 top->hits[kept - 1].document))
			top->hits[kept++] = top->hits[i];
	top->count = kept;
}

static void
cut_back(struct top_hits *top, const struct hit_ranking *ranking)
{
	if (ranking->passages)
		keep_best(top, ranking);
	if (top->count < ranking->depth)
		return;
	select_best(ranking, top->hits, top->count);
	top->count = ranking->depth;
	top->least = top->hits[ranking->depth - 1].score;
}

void
top_hits_put(struct top_hits *top, const struct hit_ranking *ranking, struct hit hit)
{
	if (hit.score < top->least)
		return;
	top->hits[top->count++] = hit;
	if (top->count == top_hits_room(ranking->depth))
		cut_back(top, ranking);
}

/* glibc's qsort_r; the tie rule needs the context. */
static int
by_rank(const void *a, const void *b, void *ranking)
{
	return compare(ranking, *(const struct hit *)a, *(const struct hit *)b);
}

void
top_hits_sort(struct top_hits *top, const struct hit_ranking *ranking)
{
	if (top->count > ranking->depth || ranking->passages)
		cut_back(top, ranking);
	qsort_r(
	    top->hits, (size_t)top->count, sizeof *top->hits, by_rank, (void *)ranking);
}
