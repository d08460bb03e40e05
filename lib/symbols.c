#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct entry {
	uint32_t start, length; /* in the pool; start 0: a gap */
};

struct symbols {
	char *pool;
	size_t used, room;
	struct entry *entry; /* by id */
	size_t size, capacity;
	int32_t *slot; /* open addressing: id + 1, 0: empty */
	size_t slots, count;
};

struct symbols *
symbols_new(void)
{
	struct symbols *symbols = mem_zero(1, sizeof *symbols);

	symbols->slots = 1 << 12;
	symbols->slot = mem_zero(symbols->slots, sizeof *symbols->slot);
	symbols->used = 1;
	return symbols;
}

static uint64_t
hash(const char *text, size_t length)
{
	uint64_t h = length * 0x9E3779B97F4A7C15u;

	while (length) {
		uint64_t word = 0;
		size_t take = length < 8 ? length : 8;
		memcpy(&word, text, take);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
		text += take;
		length -= take;
	}
	return h;
}

/* The slot that holds the text, or the empty one where it belongs. */
static size_t
find(const struct symbols *symbols, const char *text, size_t length)
{
	size_t mask = symbols->slots - 1, at = hash(text, length) & mask;

	for (; symbols->slot[at]; at = (at + 1) & mask) {
		const struct entry *entry = &symbols->entry[symbols->slot[at] - 1];
		if (entry->length == length &&
		    !memcmp(symbols->pool + entry->start, text, length))
			break;
	}
	return at;
}

static void
widen(struct symbols *symbols)
{
	free(symbols->slot);
	symbols->slots *= 2;
	symbols->slot = mem_zero(symbols->slots, sizeof *symbols->slot);
	for (size_t id = 0; id < symbols->size; id++) {
		const struct entry *entry = &symbols->entry[id];
		if (entry->start)
			symbols->slot[find(symbols, symbols->pool + entry->start,
			    entry->length)] = (int32_t)id + 1;
	}
}

int32_t
symbols_add(struct symbols *symbols, const char *text, size_t length, int32_t id)
{
	if (2 * symbols->count >= symbols->slots)
		widen(symbols);
	size_t at = find(symbols, text, length), index = (size_t)id;
	if (symbols->slot[at])
		return symbols->slot[at] - 1;
	if (index < symbols->size && symbols->entry[index].start)
		return -1;
	symbols->entry = mem_grow(
	    symbols->entry, &symbols->capacity, index + 1, sizeof *symbols->entry);
	while (symbols->size <= index)
		symbols->entry[symbols->size++] = (struct entry){ 0, 0 };
	symbols->pool =
	    mem_grow(symbols->pool, &symbols->room, symbols->used + length + 1, 1);
	memcpy(symbols->pool + symbols->used, text, length);
	symbols->pool[symbols->used + length] = 0;
	symbols->entry[index] =
	    (struct entry){ (uint32_t)symbols->used, (uint32_t)length };
	symbols->used += length + 1;
	symbols->slot[at] = id + 1;
	symbols->count++;
	return id;
}

int32_t
symbols_find(const struct symbols *symbols, const char *text, size_t length)
{
	return symbols->slot[find(symbols, text, length)] - 1;
}

const char *
symbols_text(const struct symbols *symbols, int32_t id, size_t *length)
{
	if (id < 0 || (size_t)id >= symbols->size || !symbols->entry[id].start)
		return NULL;
	if (length)
		*length = symbols->entry[id].length;
	return symbols->pool + symbols->entry[id].start;
}

int32_t
symbols_size(const struct symbols *symbols)
{
	return (int32_t)symbols->size;
}

void
symbols_free(struct symbols *symbols)
{
	free(symbols->pool);
	free(symbols->entry);
	free(symbols->slot);
	free(symbols);
}
