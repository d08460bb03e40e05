#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"

static const size_t NAMES_MOST = UINT32_MAX - 1;

/* Part of the hash lies in the slot: most unequal names are told apart, and the table grows, without reading names. */
struct name_slot {
	uint32_t hash, number; /* number + 1, 0: empty */
};

enum { FIRST = 64, CHUNKS = 27, BLOCK = 1 << 16, BLOCK_MOST = 1 << 24 };

struct name_block {
	struct name_block *before;
	char bytes[];
};

struct strings {
	struct name_block *block; /* the newest; new names go there */
	size_t used, size;	  /* bytes of that block */
	char **names
	    [CHUNKS]; /* chunk c: FIRST << c names; the length lies before the bytes */
	size_t count, taken;
	struct name_slot
	    *table; /* hash table [slots], a power of two, at most half full */
	size_t slots;
	/* strings_numbers: the names that strings_get has made so far; NULL: other names */
	struct strings *shown;
	int64_t first;
};

struct strings *
strings_new(void)
{
	struct strings *names = mem_zero(1, sizeof *names);

	names->slots = 64;
	names->table = mem_zero(names->slots, sizeof *names->table);
	return names;
}

struct strings *
strings_numbers(int64_t first)
{
	struct strings *names = mem_zero(1, sizeof *names);

	names->shown = strings_new();
	names->first = first;
	return names;
}

/* Writes the decimal name of a number; returns its length. */
static size_t
write_number(const struct strings *names, int64_t number, char room[NUMBER_ROOM])
{
	size_t length = number_put_whole(room, names->first + number);

	room[length] = 0;
	return length;
}

static int64_t
find_number(const struct strings *names, const char *bytes, size_t length)
{
	char own[NUMBER_ROOM];
	int64_t value = 0;

	if (length > 18) /* more digits than there are rows */
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] < '0' || bytes[i] > '9')
			return -1;
		value = value * 10 + (bytes[i] - '0');
	}
	int64_t number = value - names->first;
	if (number < 0 || number >= (int64_t)names->count ||
	    write_number(names, number, own) != length || memcmp(own, bytes, length) != 0)
		return -1;
	return number;
}

/* The place of a name's pointer; the chunk of a new name may be missing yet. */
static char ***
chunk_of(const struct strings *names, size_t number, size_t *index)
{
	size_t place = number + FIRST;
	int chunk = __builtin_clzl(FIRST) - __builtin_clzl(place);

	*index = place - ((size_t)FIRST << chunk);
	return (char ***)&names->names[chunk];
}

const char *
strings_get(const struct strings *names, int64_t number)
{
	char room[NUMBER_ROOM];
	size_t index;

	if (names->shown) {
		size_t length = write_number(names, number, room);
		number = strings_add(names->shown, room, length, NULL);
		return strings_get(names->shown, number);
	}
	return (*chunk_of(names, (size_t)number, &index))[index];
}

size_t
strings_length(const struct strings *names, int64_t number)
{
	uint32_t length;

	memcpy(&length, strings_get(names, number) - sizeof length, sizeof length);
	return length;
}

int64_t
strings_count(const struct strings *names)
{
	return (int64_t)names->count;
}

size_t
strings_bytes(const struct strings *names)
{
	return names->taken + names->slots * sizeof *names->table +
	       (names->shown ? strings_bytes(names->shown) : 0);
}

/* The slot that holds the name, or the empty one where it belongs. */
static struct name_slot *
find(const struct strings *names, const char *bytes, size_t length, uint32_t hash)
{
	size_t at = hash & (names->slots - 1);

	for (; names->table[at].number; at = (at + 1) & (names->slots - 1)) {
		int64_t number = (int64_t)names->table[at].number - 1;
		if (names->table[at].hash == hash &&
		    strings_length(names, number) == length &&
		    memcmp(strings_get(names, number), bytes, length) == 0)
			break;
	}
	return &names->table[at];
}

static void
widen(struct strings *names)
{
	struct name_slot *old = names->table;
	size_t size = names->slots;

	names->slots *= 2;
	names->table = mem_zero(names->slots, sizeof *names->table);
	for (size_t i = 0; i < size; i++) {
		size_t at = old[i].hash & (names->slots - 1);
		if (!old[i].number)
			continue;
		while (names->table[at].number)
			at = (at + 1) & (names->slots - 1);
		names->table[at] = old[i];
	}
	free(old);
}

int64_t
strings_find(const struct strings *names, const char *bytes, size_t length)
{
	uint32_t hash = (uint32_t)rng_hash(0, bytes, length);

	if (names->shown)
		return find_number(names, bytes, length);
	return (int64_t)find(names, bytes, length, hash)->number - 1;
}

/* Allocates bytes that never move. */
static char *
take(struct strings *names, size_t bytes)
{
	if (names->size - names->used < bytes) {
		size_t size = names->size ? names->size : BLOCK / 2;
		size = size < BLOCK_MOST ? 2 * size : size;
		names->size = size < bytes ? bytes : size;
		struct name_block *block = mem_new(1, sizeof *block + names->size);
		block->before = names->block;
		names->block = block;
		names->used = 0;
		names->taken += names->size;
	}
	names->used += bytes;
	return names->block->bytes + names->used - bytes;
}

/* Where the pointer to the next name goes. */
static char **
next_place(struct strings *names)
{
	size_t index;
	char ***chunk = chunk_of(names, names->count, &index);

	if (names->count == NAMES_MOST)
		die("more than %lld different names", (long long)NAMES_MOST);
	if (!*chunk) { /* a new chunk doubles the capacity */
		*chunk = mem_new(names->count + FIRST, sizeof **chunk);
		names->taken += (names->count + FIRST) * sizeof **chunk;
	}
	return &(*chunk)[index];
}

static void
append(struct strings *names, const char *bytes, size_t length)
{
	uint32_t prefix = (uint32_t)length;
	char **place = next_place(names);

	if (length >= UINT32_MAX)
		die("a name of %zu bytes is too long", length);
	char *name = take(names, sizeof prefix + length + 1);
	memcpy(name, &prefix, sizeof prefix);
	name += sizeof prefix;
	memcpy(name, bytes, length);
	name[length] = 0;
	*place = name;
}

int64_t
strings_repeat(struct strings *names, int64_t number)
{
	char *name = (char *)strings_get(names, number);

	*next_place(names) = name;
	return (int64_t)names->count++;
}

int64_t
strings_add(struct strings *names, const char *bytes, size_t length, bool *fresh)
{
	uint32_t hash = names->shown ? 0 : (uint32_t)rng_hash(0, bytes, length);
	struct name_slot *slot = names->shown ? NULL : find(names, bytes, length, hash);
	bool known = slot && slot->number;

	if (fresh)
		*fresh = !known;
	if (known)
		return (int64_t)slot->number - 1;
	if (!slot && names->count == NAMES_MOST)
		die("more than %lld different names", (long long)NAMES_MOST);
	if (!slot)
		return (int64_t)names->count++;
	append(names, bytes, length);
	*slot = (struct name_slot){ hash, (uint32_t)++names->count };
	if (names->count > names->slots / 2)
		widen(names);
	return (int64_t)names->count - 1;
}

int64_t
strings_add_from(struct strings *names, const struct strings *other, int64_t number)
{
	return strings_add(
	    names, strings_get(other, number), strings_length(other, number), NULL);
}

int64_t
strings_find_from(
    const struct strings *names, const struct strings *other, int64_t number)
{
	return strings_find(
	    names, strings_get(other, number), strings_length(other, number));
}

int64_t
strings_lacking(
    const struct strings *names, const struct strings *other, const char **first)
{
	int64_t lacking = 0;

	for (int64_t i = strings_count(other) - 1; i >= 0; i--)
		if (strings_find_from(names, other, i) < 0) {
			lacking++;
			*first = strings_get(other, i);
		}
	return lacking;
}

int
strings_compare(const struct strings *names, int64_t a, int64_t b)
{
	size_t length_a = strings_length(names, a), length_b = strings_length(names, b);
	size_t common = length_a < length_b ? length_a : length_b;
	int order = memcmp(strings_get(names, a), strings_get(names, b), common);

	return order ? order : (length_a > length_b) - (length_a < length_b);
}

static int
compare_numbers(const void *a, const void *b, void *names)
{
	return strings_compare(names, *(const int64_t *)a, *(const int64_t *)b);
}

int64_t *
strings_order(const struct strings *names)
{
	size_t count = (size_t)strings_count(names);
	int64_t *order = mem_new(count + 1, sizeof *order);

	for (size_t i = 0; i < count; i++)
		order[i] = (int64_t)i;
	qsort_r(order, count, sizeof *order, compare_numbers, (void *)names);
	return order;
}

void
strings_free(struct strings *names)
{
	if (!names)
		return;
	for (struct name_block *block = names->block, *before; block; block = before) {
		before = block->before;
		free(block);
	}
	for (int chunk = 0; chunk < CHUNKS; chunk++)
		free(names->names[chunk]);
	free(names->table);
	strings_free(names->shown);
	free(names);
}
