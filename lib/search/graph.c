#include "search/graph.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

enum { SEED = 1, SEEN_ROOM = 4096 };

/* Numbers seen: a table with open addressing, its room a power of two. */
struct number_set {
	uint32_t *at; /* [room], UINT32_MAX: free */
	size_t room, count;
};

static void
set_clear(struct number_set *set)
{
	memset(set->at, 0xff, set->room * sizeof *set->at);
	set->count = 0;
}

/* Whether the number is new. */
static bool
set_put(struct number_set *set, uint32_t number)
{
	size_t place = number * UINT32_C(2654435769) & (set->room - 1);

	for (; set->at[place] != UINT32_MAX; place = (place + 1) & (set->room - 1))
		if (set->at[place] == number)
			return false;
	set->at[place] = number;
	set->count++;
	return true;
}

static void
set_grow(struct number_set *set)
{
	struct number_set old = *set;

	set->room = 2 * old.room;
	set->at = mem_new(set->room, sizeof *set->at);
	set_clear(set);
	for (size_t i = 0; i < old.room; i++)
		if (old.at[i] != UINT32_MAX)
			set_put(set, old.at[i]);
	free(old.at);
}

/* A row among the best, and whether its links were followed. */
struct graph_place {
	struct hit hit;
	bool followed;
};

struct graph_walk
graph_walk_new(int64_t beam)
{
	struct graph_walk walk = { .beam = beam,
		.places = mem_new((size_t)beam + 1, sizeof *walk.places),
		.found = mem_new((size_t)beam, sizeof *walk.found),
		.seen = mem_zero(1, sizeof *walk.seen),
		.fresh = mem_new(2 * GRAPH_LINKS_MOST, sizeof *walk.fresh) };

	walk.seen->room = SEEN_ROOM;
	walk.seen->at = mem_new(SEEN_ROOM, sizeof *walk.seen->at);
	return walk;
}

void
graph_walk_free(struct graph_walk *walk)
{
	free(walk->places);
	free(walk->found);
	free(walk->seen->at);
	free(walk->seen);
	free(walk->fresh);
}

float
graph_score(
    const struct graph *graph, const struct code_query *query, float extra, uint32_t row)
{
	size_t stride = codes_stride(graph->width);
	int32_t sum;

	graph->code_sums(&sum, query, graph->codes + row * stride, 1, stride);
	double score = query->base + query->scale * sum;
	return (float)(graph->extra ? score + (double)extra * graph->extra[row] : score);
}

/* Puts a row where it ranks among the best; returns its place, walk->count if it is too far. */
static int64_t
place_hit(struct graph_walk *walk, struct hit hit)
{
	int64_t low = 0, high = walk->count;

	while (low < high) {
		int64_t middle = (low + high) / 2;
		struct hit other = walk->places[middle].hit;
		if (other.score > hit.score ||
		    (other.score == hit.score && other.document < hit.document))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == walk->beam)
		return walk->count;
	if (walk->count == walk->beam)
		walk->count--;
	memmove(walk->places + low + 1, walk->places + low,
	    (size_t)(walk->count - low) * sizeof *walk->places);
	walk->places[low] = (struct graph_place){ hit, false };
	walk->count++;
	return low;
}

/* The rows of a list that were not seen yet, their codes on the way to the cache. */
static int64_t
take_fresh(struct graph_walk *walk, const struct graph *graph, const uint32_t *rows,
    int64_t count)
{
	size_t stride = codes_stride(graph->width);
	int64_t fresh = 0;

	while (2 * (walk->seen->count + (size_t)count) > walk->seen->room)
		set_grow(walk->seen);
	for (int64_t i = 0; i < count && rows[i] != GRAPH_END; i++) {
		if (rows[i] >= graph->rows)
			die("%s: a link leads beyond the last row: the index is damaged; make it again",
			    graph->name);
		if (!set_put(walk->seen, rows[i]))
			continue;
		const uint8_t *codes = graph->codes + rows[i] * stride;
		for (size_t line = 0; line < stride; line += CODES_ALIGNMENT)
			__builtin_prefetch(codes + line);
		walk->fresh[fresh++] = rows[i];
	}
	return fresh;
}

void
graph_search(struct graph_walk *walk, const struct graph *graph,
    const struct code_query *query, float extra, const uint32_t *starts, int64_t count)
{
	set_clear(walk->seen);
	walk->count = 0;
	int64_t fresh = take_fresh(walk, graph, starts, count);
	for (int64_t next = 0;;) {
		for (int64_t i = 0; i < fresh; i++) {
			uint32_t row = walk->fresh[i];
			float score = graph_score(graph, query, extra, row);
			int64_t place = place_hit(walk, (struct hit){ score, row });
			next = place < next ? place : next;
		}
		while (next < walk->count && walk->places[next].followed)
			next++;
		if (next >= walk->count)
			break;
		walk->places[next].followed = true;
		fresh = take_fresh(walk, graph,
		    graph->links + walk->places[next].hit.document * graph->room,
		    graph->room);
	}
	for (int64_t i = 0; i < walk->count; i++)
		walk->found[i] = walk->places[i].hit;
}

uint32_t
graph_order(const struct graph *graph, int64_t i)
{
	return (uint32_t)rng_permute(SEED, (uint64_t)i, (uint64_t)graph->rows);
}

int64_t
graph_starts(const struct graph *graph, uint32_t *starts)
{
	int64_t count = 0;

	for (int64_t i = 0; i < graph->rows && count < GRAPH_STARTS; i++) {
		uint32_t row = graph_order(graph, i);
		if (isfinite(graph->errors[row]))
			starts[count++] = row;
	}
	return count;
}
