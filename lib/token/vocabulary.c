#include "token/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { AHEAD = 16 };

struct token_text {
	uint32_t start, length; /* offset in the pool; 0: no token */
};

struct token_slot {
	uint32_t tag;		/* part of the hash; tells most texts apart */
	int32_t next;		/* id + 1, 0: empty */
	uint32_t start, length; /* copies of the entry's, to save a cache miss */
};

struct vocabulary {
	char *pool;
	size_t used, room;
	struct token_text *entry; /* by id */
	size_t size, capacity;
	struct token_slot *slot; /* open addressing */
	size_t slots, count;
};

struct vocabulary *
vocabulary_new(void)
{
	struct vocabulary *vocabulary = mem_zero(1, sizeof *vocabulary);

	vocabulary->slots = 1 << 12;
	vocabulary->slot = mem_zero(vocabulary->slots, sizeof *vocabulary->slot);
	vocabulary->used = 1;
	return vocabulary;
}

void
vocabulary_reserve(struct vocabulary *vocabulary, size_t count, size_t bytes)
{
	vocabulary->capacity = count;
	vocabulary->entry = mem_large(count, sizeof *vocabulary->entry);
	vocabulary->room = bytes;
	vocabulary->pool = mem_large(bytes, 1);
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
	if (length >= 4) { /* the two loads may overlap */
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

/* The slot of a text, or the empty slot for it. */
static struct token_slot *
find(const struct vocabulary *vocabulary, const char *text, size_t length, uint64_t key)
{
	size_t mask = vocabulary->slots - 1, at = key & mask;

	for (; vocabulary->slot[at].next; at = (at + 1) & mask) {
		if (vocabulary->slot[at].tag != (uint32_t)(key >> 32))
			continue;
		if (vocabulary->slot[at].length == length &&
		    !memcmp(vocabulary->pool + vocabulary->slot[at].start, text, length))
			break;
	}
	return &vocabulary->slot[at];
}

/* Entries up to `id`, gaps before it: the numbers of added tokens may begin far behind, where zeros are not to be
 * written. */
static void
widen(struct vocabulary *vocabulary, size_t id)
{
	if (id < vocabulary->capacity) {
		while (vocabulary->size <= id)
			vocabulary->entry[vocabulary->size++] =
			    (struct token_text){ 0, 0 };
		return;
	}
	vocabulary->capacity =
	    id < 2 * vocabulary->capacity ? 2 * vocabulary->capacity : id + 1;
	struct token_text *entry = mem_zero(vocabulary->capacity, sizeof *entry);
	if (vocabulary->size)
		memcpy(entry, vocabulary->entry, vocabulary->size * sizeof *entry);
	free(vocabulary->entry);
	vocabulary->entry = entry;
	vocabulary->size = id + 1;
}

bool
vocabulary_put(
    struct vocabulary *vocabulary, const char *text, size_t length, int32_t number)
{
	size_t id = (size_t)number;

	if (id < vocabulary->size && vocabulary->entry[id].start)
		return false;
	if (id >= vocabulary->size)
		widen(vocabulary, id);
	vocabulary->pool = mem_grow(
	    vocabulary->pool, &vocabulary->room, vocabulary->used + length + 1, 1);
	if (vocabulary->used + length >= UINT32_MAX)
		die("a vocabulary of more than 4 GB");
	memcpy(vocabulary->pool + vocabulary->used, text, length);
	vocabulary->pool[vocabulary->used + length] = 0;
	vocabulary->entry[id] =
	    (struct token_text){ (uint32_t)vocabulary->used, (uint32_t)length };
	vocabulary->used += length + 1;
	vocabulary->count++;
	return true;
}

int32_t
vocabulary_index(struct vocabulary *vocabulary)
{
	uint64_t ahead[AHEAD] = { 0 };
	int32_t twice = -1;

	free(vocabulary->slot);
	while (5 * vocabulary->count > 4 * vocabulary->slots)
		vocabulary->slots *= 2;
	vocabulary->slot = mem_zero(vocabulary->slots, sizeof *vocabulary->slot);
	for (size_t id = 0; id < vocabulary->size + AHEAD; id++) {
		uint64_t key = ahead[id % AHEAD];
		if (id >= AHEAD && vocabulary->entry[id - AHEAD].start) {
			struct token_text entry = vocabulary->entry[id - AHEAD];
			struct token_slot *slot = find(vocabulary,
			    vocabulary->pool + entry.start, entry.length, key);
			if (slot->next)
				twice = (int32_t)(id - AHEAD);
			*slot = (struct token_slot){ (uint32_t)(key >> 32),
				(int32_t)(id - AHEAD) + 1, entry.start, entry.length };
		}
		if (id < vocabulary->size)
			ahead[id % AHEAD] = vocabulary_key(vocabulary,
			    vocabulary->pool + vocabulary->entry[id].start,
			    vocabulary->entry[id].length);
	}
	return twice;
}

int32_t
vocabulary_add(struct vocabulary *vocabulary, const char *text, size_t length, int32_t id)
{
	if (5 * (vocabulary->count + 1) > 4 * vocabulary->slots) {
		vocabulary->slots *= 2;
		vocabulary_index(vocabulary);
	}
	uint64_t key = hash(text, length);
	struct token_slot *slot = find(vocabulary, text, length, key);
	if (slot->next)
		return slot->next - 1;
	if (!vocabulary_put(vocabulary, text, length, id))
		return -1;
	*slot = (struct token_slot){ (uint32_t)(key >> 32), id + 1,
		vocabulary->entry[id].start, (uint32_t)length };
	return id;
}

int32_t
vocabulary_find(const struct vocabulary *vocabulary, const char *text, size_t length)
{
	return find(vocabulary, text, length, hash(text, length))->next - 1;
}

uint64_t
vocabulary_key(const struct vocabulary *vocabulary, const char *text, size_t length)
{
	uint64_t key = hash(text, length);

	__builtin_prefetch(&vocabulary->slot[key & (vocabulary->slots - 1)]);
	return key;
}

int32_t
vocabulary_find_key(
    const struct vocabulary *vocabulary, const char *text, size_t length, uint64_t key)
{
	return find(vocabulary, text, length, key)->next - 1;
}

const char *
vocabulary_text(const struct vocabulary *vocabulary, int32_t id, size_t *length)
{
	if (id < 0 || (size_t)id >= vocabulary->size || !vocabulary->entry[id].start)
		return NULL;
	if (length)
		*length = vocabulary->entry[id].length;
	return vocabulary->pool + vocabulary->entry[id].start;
}

int32_t
vocabulary_size(const struct vocabulary *vocabulary)
{
	return (int32_t)vocabulary->size;
}

void
vocabulary_free(struct vocabulary *vocabulary)
{
	free(vocabulary->pool);
	free(vocabulary->entry);
	free(vocabulary->slot);
	free(vocabulary);
}
