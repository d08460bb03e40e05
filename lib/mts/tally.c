#include "mts/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strings.h"
#include "mts/grid.h"
#include "stream/print.h"
#include "text/json.h"

enum { SHOWN = 10, SHOWN_BYTES = 40 };

struct count {
	int64_t attribute, value; /* value -1: records without it */
	int64_t records, rows;
};

struct tally {
	struct strings *names;
	struct strings *values; /* "NUMBER JSON": number of the name, value */
	struct count *counts;	/* [values] */
	size_t capacity;
	int64_t records, rows;
};

struct tally *
tally_new(void)
{
	struct tally *tally = mem_zero(1, sizeof *tally);

	tally->names = strings_new();
	tally->values = strings_new();
	return tally;
}

static void
add_attribute(struct tally *tally, const struct tree *attribute, int64_t rows)
{
	int64_t name =
	    strings_add(tally->names, attribute->key, strlen(attribute->key), NULL);
	char *json = json_text(attribute, 0),
	     *key = mem_format("%lld %s", (long long)name, json);
	bool fresh;
	int64_t value = strings_add(tally->values, key, strlen(key), &fresh);

	tally->counts = mem_grow(
	    tally->counts, &tally->capacity, (size_t)value + 1, sizeof *tally->counts);
	if (fresh)
		tally->counts[value] = (struct count){ name, value, 0, 0 };
	tally->counts[value].records++;
	tally->counts[value].rows += rows;
	free(key);
	free(json);
}

void
tally_add(struct tally *tally, const struct record *record)
{
	const struct tree *attributes = record->attributes;

	tally->records++;
	tally->rows += record->rows;
	for (size_t i = 0; i < attributes->count; i++)
		if (attributes->items[i]->kind != TREE_NULL)
			add_attribute(tally, attributes->items[i], record->rows);
}

/* By rows, descending, then in order of appearance; records without the attribute last. */
static int
by_rows(const void *a, const void *b)
{
	const struct count *one = a, *two = b;

	if (one->value < 0 || two->value < 0)
		return (one->value < 0) - (two->value < 0);
	if (one->rows != two->rows)
		return one->rows > two->rows ? -1 : 1;
	return (one->value > two->value) - (one->value < two->value);
}

/* The sorted counts of an attribute; the caller frees them. */
static struct count *
counts_of(const struct tally *tally, int64_t name, int64_t *count)
{
	int64_t all = strings_count(tally->values), found = 0;
	struct count *counts = mem_new((size_t)all + 1, sizeof *counts);
	struct count none = { name, -1, tally->records, tally->rows };

	for (int64_t i = 0; i < all; i++)
		if (tally->counts[i].attribute == name) {
			counts[found++] = tally->counts[i];
			none.records -= tally->counts[i].records;
			none.rows -= tally->counts[i].rows;
		}
	if (none.records)
		counts[found++] = none;
	qsort(counts, (size_t)found, sizeof *counts, by_rows);
	*count = found;
	return counts;
}

static const char *
json_of(const struct tally *tally, const struct count *count)
{
	return count->value < 0
		   ? "null"
		   : strchr(strings_get(tally->values, count->value), ' ') + 1;
}

bool
tally_any(const struct tally *tally)
{
	return strings_count(tally->names) > 0;
}

static void
add_line(struct text_grid *grid, char *name, char *value, int64_t records, int64_t rows)
{
	grid_add(grid, name);
	grid_add(grid, value);
	grid_add(grid, mem_format("%lld", (long long)records));
	grid_add(grid, mem_format("%lld", (long long)rows));
}

/* The JSON text, shortened to fit on a line. */
static char *
shown(const char *json)
{
	size_t length = strlen(json);

	if (length <= SHOWN_BYTES)
		return mem_string(json);
	for (length = SHOWN_BYTES;
	     length && ((unsigned char)json[length] & 0xC0) == 0x80;)
		length--;
	return mem_format("%.*s...", (int)length, json);
}

void
tally_print(const struct tally *tally)
{
	struct text_grid *grid = grid_new("llrr");

	grid_add(grid, mem_string("attribute"));
	grid_add(grid, mem_string("value"));
	grid_add(grid, mem_string("records"));
	grid_add(grid, mem_string("rows"));
	for (int64_t name = 0; name < strings_count(tally->names); name++) {
		const char *text = strings_get(tally->names, name);
		int64_t count, records = 0, rows = 0, i;
		struct count *counts = counts_of(tally, name, &count);
		for (i = 0; i < count && (i < SHOWN || count == SHOWN + 1); i++)
			add_line(grid, mem_string(text),
			    counts[i].value < 0 ? mem_string("-")
						: shown(json_of(tally, &counts[i])),
			    counts[i].records, counts[i].rows);
		for (int64_t more = i; more < count; more++) {
			records += counts[more].records;
			rows += counts[more].rows;
		}
		if (i < count)
			add_line(grid, mem_string(text),
			    mem_format("%lld others", (long long)(count - i)), records,
			    rows);
		free(counts);
	}
	grid_print(grid);
}

void
tally_json(const struct tally *tally, struct buffer *to)
{
	print_text(to, "{");
	for (int64_t name = 0; name < strings_count(tally->names); name++) {
		int64_t count;
		struct count *counts = counts_of(tally, name, &count);
		buffer_add(to, ",", name > 0);
		print_string(to, strings_get(tally->names, name),
		    strings_length(tally->names, name));
		print_text(to, ":[");
		for (int64_t i = 0; i < count; i++)
			print_format(to,
			    "%s{\"value\":%s,\"records\":%lld,\"rows\":%lld}",
			    i ? "," : "", json_of(tally, &counts[i]),
			    (long long)counts[i].records, (long long)counts[i].rows);
		print_text(to, "]");
		free(counts);
	}
	print_text(to, "}");
}

void
tally_free(struct tally *tally)
{
	strings_free(tally->names);
	strings_free(tally->values);
	free(tally->counts);
	free(tally);
}
