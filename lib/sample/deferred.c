#include "sample/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* Items form a list for each queue, and one of free items; indices begin at 1, 0 is none. */
struct deferred_item {
	struct deferred_example one;
	int64_t came; /* order of arrival */
	size_t next;
};

/* The queue of one text of one side. */
struct text_queue {
	uint64_t key;
	int side;
	size_t first, last, count;
	size_t before, at; /* the next item to offer, and the one before it */
};

/* The top is the queue whose first item, or next item to offer, came first. */
struct heap_entry {
	int64_t came;
	size_t queue;
};

struct heap {
	struct heap_entry *entries;
	size_t count, room;
};

struct deferred {
	struct deferred_item *items;
	struct text_queue *queues;
	size_t *table; /* hash table of queues by side and key; 0: free */
	size_t item_count, item_room, queue_count, queue_room, table_size, unused;
	int64_t came;
	struct heap heads, moved; /* by first item; by next item to offer */
	size_t *done;		  /* queues that the batch has finished */
	size_t done_count, done_room;
};

/* Heaps. --------------------------------------------------------------------------- */

static void
heap_push(struct heap *heap, struct heap_entry entry)
{
	size_t at = heap->count++;

	heap->entries =
	    mem_grow(heap->entries, &heap->room, heap->count, sizeof *heap->entries);
	for (; at && heap->entries[(at - 1) / 2].came > entry.came; at = (at - 1) / 2)
		heap->entries[at] = heap->entries[(at - 1) / 2];
	heap->entries[at] = entry;
}

static size_t
heap_pop(struct heap *heap)
{
	struct heap_entry *entries = heap->entries, last = entries[--heap->count];
	size_t top = entries[0].queue, at = 0;

	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count &&
		    entries[child + 1].came < entries[child].came)
			child++;
		if (entries[child].came >= last.came)
			break;
		entries[at] = entries[child];
	}
	entries[at] = last;
	return top;
}

/* Groups. -------------------------------------------------------------------------- */

/* The table's entry of a key, or the free one for it. */
static size_t *
find(const struct deferred *deferred, int side, uint64_t key)
{
	size_t mask = deferred->table_size - 1;
	size_t at = rng_hash((uint64_t)side, &key, sizeof key) & mask;

	for (; deferred->table[at]; at = (at + 1) & mask) {
		const struct text_queue *queue = &deferred->queues[deferred->table[at]];
		if (queue->key == key && queue->side == side)
			break;
	}
	return &deferred->table[at];
}

static void
widen(struct deferred *deferred)
{
	if (deferred->queue_count * 2 < deferred->table_size)
		return;
	free(deferred->table);
	deferred->table_size = deferred->table_size ? deferred->table_size * 2 : 64;
	deferred->table = mem_zero(deferred->table_size, sizeof *deferred->table);
	for (size_t g = 1; g <= deferred->queue_count; g++)
		*find(deferred, deferred->queues[g].side, deferred->queues[g].key) = g;
}

static size_t
queue_of(struct deferred *deferred, int side, uint64_t key)
{
	widen(deferred);
	size_t *entry = find(deferred, side, key);
	if (*entry)
		return *entry;
	*entry = ++deferred->queue_count;
	deferred->queues = mem_grow(deferred->queues, &deferred->queue_room,
	    deferred->queue_count + 1, sizeof *deferred->queues);
	deferred->queues[*entry] = (struct text_queue){ .key = key, .side = side };
	return *entry;
}

/* The side whose queue to join: of two the longer one. */
static int
choose_side(struct deferred *deferred, const struct deferred_example *one, unsigned sides)
{
	size_t counts[SIDES] = { 0 };

	widen(deferred);
	for (int side = 0; side < SIDES; side++) {
		size_t queue = *find(deferred, side, one->keys[side]);
		if (queue && sides >> side & 1)
			counts[side] = deferred->queues[queue].count;
	}
	if (sides == 1u << SIDE_QUERY)
		return SIDE_QUERY;
	return sides >> SIDE_DOCUMENT & 1 && counts[SIDE_DOCUMENT] >= counts[SIDE_QUERY]
		   ? SIDE_DOCUMENT
		   : SIDE_QUERY;
}

void
deferred_add(
    struct deferred *deferred, const struct deferred_example *example, unsigned sides)
{
	int side = choose_side(deferred, example, sides);
	size_t number = queue_of(deferred, side, example->keys[side]);
	struct text_queue *queue = &deferred->queues[number];
	size_t item = deferred->unused;

	if (item) {
		deferred->unused = deferred->items[item].next;
	} else {
		item = ++deferred->item_count;
		deferred->items = mem_grow(deferred->items, &deferred->item_room,
		    item + 1, sizeof *deferred->items);
	}
	deferred->items[item] = (struct deferred_item){ *example, deferred->came++, 0 };
	if (queue->count++) {
		deferred->items[queue->last].next = item;
	} else {
		queue->first = item;
		heap_push(&deferred->heads,
		    (struct heap_entry){ deferred->items[item].came, number });
	}
	queue->last = item;
}

/* Batches. ------------------------------------------------------------------------- */

/* The number of the queue whose next item came first; 0: none. */
static size_t
next_queue(struct deferred *deferred)
{
	struct heap *heads = &deferred->heads, *moved = &deferred->moved;

	if (moved->count &&
	    (!heads->count || moved->entries[0].came < heads->entries[0].came))
		return heap_pop(moved);
	if (!heads->count)
		return 0;
	size_t number = heap_pop(heads);
	struct text_queue *queue = &deferred->queues[number];
	queue->before = 0;
	queue->at = queue->first;
	return number;
}

/* Removes the offered item from its queue. */
static void
take_out(struct deferred *deferred, struct text_queue *queue)
{
	struct deferred_item *items = deferred->items, *item = &items[queue->at];

	if (queue->before)
		items[queue->before].next = item->next;
	else
		queue->first = item->next;
	if (queue->last == queue->at)
		queue->last = queue->before;
	queue->count--;
	item->next = deferred->unused;
	deferred->unused = queue->at;
}

static void
set_aside(struct deferred *deferred, size_t number)
{
	deferred->done = mem_grow(deferred->done, &deferred->done_room,
	    deferred->done_count + 1, sizeof *deferred->done);
	deferred->done[deferred->done_count++] = number;
}

/* Resets the queues that the batch took from or skipped to their first item. */
static void
put_back(struct deferred *deferred)
{
	while (deferred->moved.count)
		set_aside(deferred, heap_pop(&deferred->moved));
	while (deferred->done_count) {
		size_t number = deferred->done[--deferred->done_count];
		const struct text_queue *queue = &deferred->queues[number];
		if (queue->count)
			heap_push(&deferred->heads,
			    (struct heap_entry){
				deferred->items[queue->first].came, number });
	}
}

void
deferred_take(struct deferred *deferred, int64_t most, deferred_put *put, void *context)
{
	size_t number;

	while (most > 0 && (number = next_queue(deferred))) {
		struct text_queue *queue = &deferred->queues[number];
		const struct deferred_item *item = &deferred->items[queue->at];
		unsigned sides = put(context, &item->one);
		size_t next = item->next;
		if (sides && !(sides >> queue->side & 1) && next) {
			queue->before = queue->at;
			queue->at = next;
			heap_push(&deferred->moved,
			    (struct heap_entry){ deferred->items[next].came, number });
			continue;
		}
		if (!sides) {
			take_out(deferred, queue);
			most--;
		}
		set_aside(deferred, number);
	}
	put_back(deferred);
}

struct deferred *
deferred_new(void)
{
	return mem_zero(1, sizeof(struct deferred));
}

void
deferred_clear(struct deferred *deferred)
{
	deferred->item_count = deferred->queue_count = deferred->unused = 0;
	deferred->heads.count = 0;
	if (deferred->table)
		memset(
		    deferred->table, 0, deferred->table_size * sizeof *deferred->table);
}

void
deferred_free(struct deferred *deferred)
{
	free(deferred->items);
	free(deferred->queues);
	free(deferred->table);
	free(deferred->heads.entries);
	free(deferred->moved.entries);
	free(deferred->done);
	free(deferred);
}
