#include "token/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { AHEAD = 16 };

struct entry {
	uint32_t start, length; /* in the pool; start 0: a gap */
};

struct slot {
	uint32_t tag;		/* of the hash; most texts are told apart by it */
	int32_t next;		/* id + 1, 0: empty */
	uint32_t start, length; /* as the entry has them: one look less */
};

struct symbols {
	char *pool;
	size_t used, room;
	struct entry *entry; /* by id */
	size_t size, capacity;
	struct slot *slot; /* open addressing */
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
mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static uint64_t
hash(const char *text, size_t length)
{
	uint64_t h = length * 0x9E3779B97F4A7C15u, word;
	uint32_t first, last;

	for (; length > 8; text += 8, length -= 8) {
		memcpy(&word, text, sizeof word);
		h = mix(h, word);
	}
	if (length >= 4) { /* the two may overlap */
		memcpy(&first, text, sizeof first);
		memcpy(&last, text + length - 4, sizeof last);
		return mix(h, first | (uint64_t)last << 32);
	}
	if (!length)
		return h;
	const unsigned char *byte = (const unsigned char *)text;
	return mix(h,
	    byte[0] | (uint32_t)byte[length / 2] << 8 | (uint32_t)byte[length - 1] << 16);
}

/* The slot that holds the text, or the empty one where it belongs. */
static struct slot *
find(const struct symbols *symbols, const char *text, size_t length, uint64_t key)
{
	size_t mask = symbols->slots - 1, at = key & mask;

	for (; symbols->slot[at].next; at = (at + 1) & mask) {
		if (symbols->slot[at].tag != (uint32_t)(key >> 32))
			continue;
		if (symbols->slot[at].length == length &&
		    !memcmp(symbols->pool + symbols->slot[at].start, text, length))
			break;
	}
	return &symbols->slot[at];
}

static void
widen(struct symbols *symbols, size_t slots)
{
	struct slot *old = symbols->slot;
	size_t count = symbols->slots;

	symbols->slots = slots;
	symbols->slot = mem_zero(slots, sizeof *symbols->slot);
	for (size_t i = 0; i < count; i++) {
		if (!old[i].next)
			continue;
		const char *text = symbols->pool + old[i].start;
		*find(symbols, text, old[i].length, hash(text, old[i].length)) = old[i];
	}
	free(old);
}

/* Give the text its place by id; false when another has it. */
static bool
place(struct symbols *symbols, const char *text, size_t length, size_t id)
{
	if (id < symbols->size && symbols->entry[id].start)
		return false;
	symbols->entry =
	    mem_grow(symbols->entry, &symbols->capacity, id + 1, sizeof *symbols->entry);
	while (symbols->size <= id)
		symbols->entry[symbols->size++] = (struct entry){ 0, 0 };
	symbols->pool =
	    mem_grow(symbols->pool, &symbols->room, symbols->used + length + 1, 1);
	if (symbols->used + length >= UINT32_MAX)
		die("a vocabulary of more than 4 GB");
	memcpy(symbols->pool + symbols->used, text, length);
	symbols->pool[symbols->used + length] = 0;
	symbols->entry[id] = (struct entry){ (uint32_t)symbols->used, (uint32_t)length };
	symbols->used += length + 1;
	symbols->count++;
	return true;
}

bool
symbols_put(struct symbols *symbols, const char *text, size_t length, int32_t id)
{
	return place(symbols, text, length, (size_t)id);
}

int32_t
symbols_index(struct symbols *symbols)
{
	uint64_t ahead[AHEAD] = { 0 };
	int32_t twice = -1;

	free(symbols->slot);
	while (5 * symbols->count > 4 * symbols->slots)
		symbols->slots *= 2;
	symbols->slot = mem_zero(symbols->slots, sizeof *symbols->slot);
	for (size_t id = 0; id < symbols->size + AHEAD; id++) {
		uint64_t key = ahead[id % AHEAD];
		if (id >= AHEAD && symbols->entry[id - AHEAD].start) {
			struct entry entry = symbols->entry[id - AHEAD];
			struct slot *slot =
			    find(symbols, symbols->pool + entry.start, entry.length, key);
			if (slot->next)
				twice = (int32_t)(id - AHEAD);
			*slot = (struct slot){ (uint32_t)(key >> 32),
				(int32_t)(id - AHEAD) + 1, entry.start, entry.length };
		}
		if (id < symbols->size)
			ahead[id % AHEAD] =
			    symbols_key(symbols, symbols->pool + symbols->entry[id].start,
				symbols->entry[id].length);
	}
	return twice;
}

int32_t
symbols_add(struct symbols *symbols, const char *text, size_t length, int32_t id)
{
	if (5 * (symbols->count + 1) > 4 * symbols->slots)
		widen(symbols, 2 * symbols->slots);
	uint64_t key = hash(text, length);
	struct slot *slot = find(symbols, text, length, key);
	if (slot->next)
		return slot->next - 1;
	if (!place(symbols, text, length, (size_t)id))
		return -1;
	*slot = (struct slot){ (uint32_t)(key >> 32), id + 1, symbols->entry[id].start,
		(uint32_t)length };
	return id;
}

int32_t
symbols_find(const struct symbols *symbols, const char *text, size_t length)
{
	return find(symbols, text, length, hash(text, length))->next - 1;
}

uint64_t
symbols_key(const struct symbols *symbols, const char *text, size_t length)
{
	uint64_t key = hash(text, length);

	__builtin_prefetch(&symbols->slot[key & (symbols->slots - 1)]);
	return key;
}

int32_t
symbols_find_key(
    const struct symbols *symbols, const char *text, size_t length, uint64_t key)
{
	return find(symbols, text, length, key)->next - 1;
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
