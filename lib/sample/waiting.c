#include "sample/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* Items are a list of each group, and one of what is free; indices begin at 1, 0 is none. */
struct item {
	struct waiting_example one;
	int64_t came; /* before those of greater numbers */
	size_t next;
};

/* What waits by one text of one side. */
struct group {
	uint64_t key;
	int side;
	size_t first, last, count;
	size_t before,
	    at; /* in the batch at hand: the next to be offered, and the one before it */
};

/* The groups whose first item, or next one to be offered, came first is on top. */
struct place {
	int64_t came;
	size_t group;
};

struct heap {
	struct place *places;
	size_t count, room;
};

struct waiting {
	struct item *items;
	struct group *groups;
	size_t *table; /* of groups by side and key; a power of two entries, 0: free */
	size_t item_count, item_room, group_count, group_room, table_size, unused;
	int64_t came;
	struct heap heads, moved; /* by their first; in the batch at hand, by the next */
	size_t *done;		  /* groups of which the batch takes no more */
	size_t done_count, done_room;
};

/* Heaps. --------------------------------------------------------------------------- */

static void
heap_push(struct heap *heap, struct place place)
{
	size_t at = heap->count++;

	heap->places =
	    mem_grow(heap->places, &heap->room, heap->count, sizeof *heap->places);
	for (; at && heap->places[(at - 1) / 2].came > place.came; at = (at - 1) / 2)
		heap->places[at] = heap->places[(at - 1) / 2];
	heap->places[at] = place;
}

static size_t
heap_pop(struct heap *heap)
{
	struct place *places = heap->places, last = places[--heap->count];
	size_t top = places[0].group, at = 0;

	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count &&
		    places[child + 1].came < places[child].came)
			child++;
		if (places[child].came >= last.came)
			break;
		places[at] = places[child];
	}
	places[at] = last;
	return top;
}

/* Groups. -------------------------------------------------------------------------- */

/* Where the group of a key is in the table, or the free place where it belongs. */
static size_t *
find(const struct waiting *waiting, int side, uint64_t key)
{
	size_t mask = waiting->table_size - 1;
	size_t at = rng_hash((uint64_t)side, &key, sizeof key) & mask;

	for (; waiting->table[at]; at = (at + 1) & mask) {
		const struct group *group = &waiting->groups[waiting->table[at]];
		if (group->key == key && group->side == side)
			break;
	}
	return &waiting->table[at];
}

static void
widen(struct waiting *waiting)
{
	if (waiting->group_count * 2 < waiting->table_size)
		return;
	free(waiting->table);
	waiting->table_size = waiting->table_size ? waiting->table_size * 2 : 64;
	waiting->table = mem_zero(waiting->table_size, sizeof *waiting->table);
	for (size_t g = 1; g <= waiting->group_count; g++)
		*find(waiting, waiting->groups[g].side, waiting->groups[g].key) = g;
}

static size_t
group_of(struct waiting *waiting, int side, uint64_t key)
{
	widen(waiting);
	size_t *place = find(waiting, side, key);
	if (*place)
		return *place;
	*place = ++waiting->group_count;
	waiting->groups = mem_grow(waiting->groups, &waiting->group_room,
	    waiting->group_count + 1, sizeof *waiting->groups);
	waiting->groups[*place] = (struct group){ .key = key, .side = side };
	return *place;
}

/* The side to wait by: of two the one by which more wait already. */
static int
choose_side(struct waiting *waiting, const struct waiting_example *one, unsigned sides)
{
	size_t counts[SIDES] = { 0 };

	widen(waiting);
	for (int side = 0; side < SIDES; side++) {
		size_t group = *find(waiting, side, one->keys[side]);
		if (group && sides >> side & 1)
			counts[side] = waiting->groups[group].count;
	}
	if (sides == 1u << SIDE_QUERY)
		return SIDE_QUERY;
	return sides >> SIDE_DOCUMENT & 1 && counts[SIDE_DOCUMENT] >= counts[SIDE_QUERY]
		   ? SIDE_DOCUMENT
		   : SIDE_QUERY;
}

void
waiting_add(
    struct waiting *waiting, const struct waiting_example *example, unsigned sides)
{
	int side = choose_side(waiting, example, sides);
	size_t number = group_of(waiting, side, example->keys[side]);
	struct group *group = &waiting->groups[number];
	size_t item = waiting->unused;

	if (item) {
		waiting->unused = waiting->items[item].next;
	} else {
		item = ++waiting->item_count;
		waiting->items = mem_grow(waiting->items, &waiting->item_room, item + 1,
		    sizeof *waiting->items);
	}
	waiting->items[item] = (struct item){ *example, waiting->came++, 0 };
	if (group->count++) {
		waiting->items[group->last].next = item;
	} else {
		group->first = item;
		heap_push(
		    &waiting->heads, (struct place){ waiting->items[item].came, number });
	}
	group->last = item;
}

/* Batches. ------------------------------------------------------------------------- */

/* The group whose next item came first; its number, 0: there is none. */
static size_t
next_group(struct waiting *waiting)
{
	struct heap *heads = &waiting->heads, *moved = &waiting->moved;

	if (moved->count &&
	    (!heads->count || moved->places[0].came < heads->places[0].came))
		return heap_pop(moved);
	if (!heads->count)
		return 0;
	size_t number = heap_pop(heads);
	struct group *group = &waiting->groups[number];
	group->before = 0;
	group->at = group->first;
	return number;
}

/* Take the item that is offered out of its group. */
static void
take_out(struct waiting *waiting, struct group *group)
{
	struct item *items = waiting->items, *item = &items[group->at];

	if (group->before)
		items[group->before].next = item->next;
	else
		group->first = item->next;
	if (group->last == group->at)
		group->last = group->before;
	group->count--;
	item->next = waiting->unused;
	waiting->unused = group->at;
}

static void
set_aside(struct waiting *waiting, size_t number)
{
	waiting->done = mem_grow(waiting->done, &waiting->done_room,
	    waiting->done_count + 1, sizeof *waiting->done);
	waiting->done[waiting->done_count++] = number;
}

/* The groups that the batch took from or passed over begin with their first item again. */
static void
put_back(struct waiting *waiting)
{
	while (waiting->moved.count)
		set_aside(waiting, heap_pop(&waiting->moved));
	while (waiting->done_count) {
		size_t number = waiting->done[--waiting->done_count];
		const struct group *group = &waiting->groups[number];
		if (group->count)
			heap_push(&waiting->heads,
			    (struct place){ waiting->items[group->first].came, number });
	}
}

void
waiting_take(struct waiting *waiting, int64_t most, waiting_put *put, void *context)
{
	size_t number;

	while (most > 0 && (number = next_group(waiting))) {
		struct group *group = &waiting->groups[number];
		const struct item *item = &waiting->items[group->at];
		unsigned sides = put(context, &item->one);
		size_t next = item->next;
		if (sides && !(sides >> group->side & 1) && next) {
			group->before = group->at;
			group->at = next;
			heap_push(&waiting->moved,
			    (struct place){ waiting->items[next].came, number });
			continue;
		}
		if (!sides) {
			take_out(waiting, group);
			most--;
		}
		set_aside(waiting, number);
	}
	put_back(waiting);
}

struct waiting *
waiting_new(void)
{
	return mem_zero(1, sizeof(struct waiting));
}

void
waiting_clear(struct waiting *waiting)
{
	waiting->item_count = waiting->group_count = waiting->unused = 0;
	waiting->heads.count = 0;
	if (waiting->table)
		memset(waiting->table, 0, waiting->table_size * sizeof *waiting->table);
}

void
waiting_free(struct waiting *waiting)
{
	free(waiting->items);
	free(waiting->groups);
	free(waiting->table);
	free(waiting->heads.places);
	free(waiting->moved.places);
	free(waiting->done);
	free(waiting);
}
