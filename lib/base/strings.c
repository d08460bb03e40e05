#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

static const size_t NAMES_MOST = UINT32_MAX - 1;

/* A place of the table: part of the hash, so that most strangers are told without a look at
 * their bytes and the table grows without one. */
struct slot {
	uint32_t hash, number; /* number + 1, 0: empty */
};

struct strings {
	char *bytes;
	size_t used, bytes_capacity;
	size_t *starts; /* [count + 1]; a name ends one before the next starts: its NUL */
	size_t count, starts_capacity;
	struct slot *table; /* by hash; a power of two, at most half full */
	size_t size;
};

struct strings *
strings_new(void)
{
	struct strings *names = mem_zero(1, sizeof *names);

	names->starts = mem_grow(NULL, &names->starts_capacity, 2, sizeof *names->starts);
	names->starts[0] = 0;
	names->size = 64;
	names->table = mem_zero(names->size, sizeof *names->table);
	return names;
}

size_t
strings_length(const struct strings *names, int64_t number)
{
	return names->starts[number + 1] - names->starts[number] - 1;
}

const char *
strings_get(const struct strings *names, int64_t number)
{
	return names->bytes + names->starts[number];
}

int64_t
strings_count(const struct strings *names)
{
	return (int64_t)names->count;
}

size_t
strings_bytes(const struct strings *names)
{
	return names->bytes_capacity + names->starts_capacity * sizeof *names->starts +
	       names->size * sizeof *names->table;
}

/* The slot that holds the name, or the empty one where it belongs. */
static struct slot *
find(const struct strings *names, const char *bytes, size_t length, uint32_t hash)
{
	size_t at = hash & (names->size - 1);

	for (; names->table[at].number; at = (at + 1) & (names->size - 1)) {
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
	struct slot *old = names->table;
	size_t size = names->size;

	names->size *= 2;
	names->table = mem_zero(names->size, sizeof *names->table);
	for (size_t i = 0; i < size; i++) {
		size_t at = old[i].hash & (names->size - 1);
		if (!old[i].number)
			continue;
		while (names->table[at].number)
			at = (at + 1) & (names->size - 1);
		names->table[at] = old[i];
	}
	free(old);
}

int64_t
strings_find(const struct strings *names, const char *bytes, size_t length)
{
	uint32_t hash = (uint32_t)rng_hash(0, bytes, length);

	return (int64_t)find(names, bytes, length, hash)->number - 1;
}

int64_t
strings_add(struct strings *names, const char *bytes, size_t length, bool *fresh)
{
	uint32_t hash = (uint32_t)rng_hash(0, bytes, length);
	struct slot *slot = find(names, bytes, length, hash);

	if (fresh)
		*fresh = !slot->number;
	if (slot->number)
		return (int64_t)slot->number - 1;
	if (names->count == NAMES_MOST)
		die("more than %lld different names", (long long)NAMES_MOST);
	size_t end = mem_add(mem_add(names->used, length, "names"), 1, "names");
	names->bytes = mem_grow(names->bytes, &names->bytes_capacity, end, 1);
	memcpy(names->bytes + names->used, bytes, length);
	names->bytes[end - 1] = 0;
	names->used = end;
	names->starts = mem_grow(names->starts, &names->starts_capacity, names->count + 2,
	    sizeof *names->starts);
	names->starts[++names->count] = end;
	*slot = (struct slot){ hash, (uint32_t)names->count };
	if (names->count > names->size / 2)
		widen(names);
	return (int64_t)names->count - 1;
}

int
strings_compare(const struct strings *names, int64_t a, int64_t b)
{
	size_t length_a = strings_length(names, a), length_b = strings_length(names, b);
	size_t common = length_a < length_b ? length_a : length_b;
	int order = memcmp(strings_get(names, a), strings_get(names, b), common);

	return order ? order : (length_a > length_b) - (length_a < length_b);
}

void
strings_free(struct strings *names)
{
	if (!names)
		return;
	free(names->bytes);
	free(names->starts);
	free(names->table);
	free(names);
}
