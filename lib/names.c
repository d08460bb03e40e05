#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "rng.h"

struct names {
	char *bytes;
	size_t used, bytes_capacity;
	size_t *starts; /* [count + 1]; a name ends one before the next starts: its NUL */
	size_t count, starts_capacity;
	int64_t
	    *table; /* number + 1 by hash, 0: empty; a power of two, at most half full */
	size_t size;
};

struct names *
names_new(void)
{
	struct names *names = mem_zero(1, sizeof *names);

	names->starts = mem_grow(NULL, &names->starts_capacity, 2, sizeof *names->starts);
	names->starts[0] = 0;
	names->size = 64;
	names->table = mem_zero(names->size, sizeof *names->table);
	return names;
}

size_t
names_length(const struct names *names, int64_t number)
{
	return names->starts[number + 1] - names->starts[number] - 1;
}

const char *
names_get(const struct names *names, int64_t number)
{
	return names->bytes + names->starts[number];
}

int64_t
names_count(const struct names *names)
{
	return (int64_t)names->count;
}

/* The slot that holds the name, or the empty one where it belongs. */
static size_t
slot(const struct names *names, const char *bytes, size_t length)
{
	size_t at = rng_hash(0, bytes, length) & (names->size - 1);

	for (; names->table[at]; at = (at + 1) & (names->size - 1)) {
		int64_t number = names->table[at] - 1;
		if (names_length(names, number) == length &&
		    memcmp(names_get(names, number), bytes, length) == 0)
			break;
	}
	return at;
}

static void
widen(struct names *names)
{
	free(names->table);
	names->size *= 2;
	names->table = mem_zero(names->size, sizeof *names->table);
	for (int64_t i = 0; i < (int64_t)names->count; i++)
		names->table[slot(names, names_get(names, i), names_length(names, i))] =
		    i + 1;
}

int64_t
names_find(const struct names *names, const char *bytes, size_t length)
{
	return names->table[slot(names, bytes, length)] - 1;
}

int64_t
names_add(struct names *names, const char *bytes, size_t length, bool *fresh)
{
	size_t at = slot(names, bytes, length);

	if (fresh)
		*fresh = !names->table[at];
	if (names->table[at])
		return names->table[at] - 1;
	size_t end = mem_add(mem_add(names->used, length, "names"), 1, "names");
	names->bytes = mem_grow(names->bytes, &names->bytes_capacity, end, 1);
	memcpy(names->bytes + names->used, bytes, length);
	names->bytes[end - 1] = 0;
	names->used = end;
	names->starts = mem_grow(names->starts, &names->starts_capacity, names->count + 2,
	    sizeof *names->starts);
	names->starts[++names->count] = end;
	names->table[at] = (int64_t)names->count;
	if (names->count > names->size / 2)
		widen(names);
	return (int64_t)names->count - 1;
}

int
names_compare(const struct names *names, int64_t a, int64_t b)
{
	size_t length_a = names_length(names, a), length_b = names_length(names, b);
	size_t common = length_a < length_b ? length_a : length_b;
	int order = memcmp(names_get(names, a), names_get(names, b), common);

	return order ? order : (length_a > length_b) - (length_a < length_b);
}

void
names_free(struct names *names)
{
	if (!names)
		return;
	free(names->bytes);
	free(names->starts);
	free(names->table);
	free(names);
}
