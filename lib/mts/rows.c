#include "mts/mts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "mts/condition.h"
#include "mts/held.h"
#include "stream/gather.h"

/* Numbers of rows. ----------------------------------------------------------------- */

struct range {
	int64_t first, last;
};

struct ranges {
	struct range *items;	    /* rising, apart */
	size_t count, capacity, at; /* those before `at` have passed */
};

_Noreturn static void
refuse_range(const char *text)
{
	die_usage(
	    "--rows: '%s' is not a list such as 5,10-20,200-; rows count from 1", text);
}

/* A number at *at, moved behind it, or what stands for a missing one. */
static int64_t
read_row(const char **at, int64_t otherwise, const char *text)
{
	char *end;

	if (**at < '0' || **at > '9')
		return otherwise;
	errno = 0;
	long long number = strtoll(*at, &end, 10);
	if (errno || number < 1)
		refuse_range(text);
	*at = end;
	return number;
}

static void
add_ranges(struct ranges *ranges, const char *text)
{
	for (const char *at = text;; at++) {
		struct range range;
		const char *begin = at;
		range.first = read_row(&at, 1, text);
		range.last = at > begin ? range.first : 0;
		if (*at == '-') {
			const char *dash = at++;
			range.last = read_row(&at, INT64_MAX, text);
			if (dash == begin && at == dash + 1)
				refuse_range(text);
		}
		if (range.last < range.first || (*at && *at != ','))
			refuse_range(text);
		ranges->items = mem_grow(ranges->items, &ranges->capacity,
		    ranges->count + 1, sizeof *ranges->items);
		ranges->items[ranges->count++] = range;
		if (!*at)
			return;
	}
}

static int
by_first(const void *a, const void *b)
{
	const struct range *one = a, *two = b;

	return (one->first > two->first) - (one->first < two->first);
}

static struct ranges
read_ranges(const struct names *texts)
{
	struct ranges ranges = { 0 };
	size_t made = 0;

	for (int i = 0; i < texts->count; i++)
		add_ranges(&ranges, texts->items[i]);
	if (!ranges.count)
		return ranges;
	qsort(ranges.items, ranges.count, sizeof *ranges.items, by_first);
	for (size_t i = 1; i < ranges.count; i++) {
		struct range *last = &ranges.items[made], *next = &ranges.items[i];
		if (next->first > last->last)
			ranges.items[++made] = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	ranges.count = made + 1;
	return ranges;
}

/* Set which of the rows before + 1 .. before + rows are in the ranges. */
static void
apply_ranges(struct ranges *ranges, int64_t before, int64_t rows, bool *pass)
{
	memset(pass, !ranges->count, (size_t)rows);
	while (ranges->at < ranges->count) {
		const struct range *range = &ranges->items[ranges->at];
		int64_t first = range->first > before ? range->first - before : 1;
		int64_t last = range->last - before < rows ? range->last - before : rows;
		if (first <= last)
			memset(pass + first - 1, true, (size_t)(last - first + 1));
		if (range->last - before > rows)
			return;
		ranges->at++;
	}
}

/* Choosing. ------------------------------------------------------------------------ */

struct choice {
	struct ranges ranges;
	struct condition **conditions;
	int count;
	bool *pass;
	int64_t *rows; /* of the record, those that pass */
	struct place *places;
	size_t pass_capacity, rows_capacity, places_capacity;
	struct gather *gathers; /* [columns] */
	struct array *arrays;	/* [columns] */
};

/* Returns how many rows of a record pass. */
static int64_t
choose(struct choice *choice, const struct record *record, int64_t before)
{
	size_t rows = (size_t)record->rows;
	int64_t count = 0;

	if (!rows)
		return 0;
	choice->pass = mem_grow(choice->pass, &choice->pass_capacity, rows, 1);
	choice->rows =
	    mem_grow(choice->rows, &choice->rows_capacity, rows, sizeof *choice->rows);
	apply_ranges(&choice->ranges, before, record->rows, choice->pass);
	for (int i = 0; i < choice->count; i++)
		condition_apply(choice->conditions[i], record, before, choice->pass);
	for (int64_t i = 0; i < record->rows; i++)
		if (choice->pass[i])
			choice->rows[count++] = i;
	return count;
}

static void
put_rows(struct choice *choice, const struct reader *reader, const struct record *record,
    int64_t count, struct writer *writer)
{
	if (count == record->rows) {
		stream_put(writer, stream_make(writer, record));
		return;
	}
	choice->places = mem_grow(choice->places, &choice->places_capacity, (size_t)count,
	    sizeof *choice->places);
	for (int64_t i = 0; i < count; i++)
		choice->places[i] = (struct place){ record->columns, choice->rows[i] };
	for (int c = 0; c < stream_columns(reader); c++)
		choice->arrays[c] = gather_rows(&choice->gathers[c],
		    stream_column(reader, c), c, choice->places, count);
	struct record chosen = { count, record->attributes, choice->arrays };
	stream_put(writer, stream_make(writer, &chosen));
}

static bool
all_passed(const struct ranges *ranges)
{
	return ranges->count && ranges->at == ranges->count;
}

static struct choice
open_choice(const struct rows *rows)
{
	struct choice choice = { .ranges = read_ranges(&rows->numbers),
		.count = rows->conditions.count };

	choice.conditions = mem_new((size_t)choice.count, sizeof(struct condition *));
	for (int i = 0; i < choice.count; i++)
		choice.conditions[i] = condition_new(rows->conditions.items[i]);
	return choice;
}

static void
bind(struct choice *choice, const struct reader *reader)
{
	size_t columns = (size_t)stream_columns(reader);

	for (int i = 0; i < choice->count; i++)
		condition_bind(choice->conditions[i], reader);
	choice->gathers = mem_zero(columns, sizeof *choice->gathers);
	choice->arrays = mem_zero(columns, sizeof *choice->arrays);
}

static void
close_choice(struct choice *choice, int columns)
{
	for (int i = 0; i < choice->count; i++) {
		condition_end(choice->conditions[i]);
		condition_free(choice->conditions[i]);
	}
	for (int c = 0; c < columns; c++)
		gather_free(&choice->gathers[c]);
	free(choice->ranges.items);
	free(choice->conditions);
	free(choice->pass);
	free(choice->rows);
	free(choice->places);
	free(choice->gathers);
	free(choice->arrays);
}

void
rows_choose(const char *path, const struct rows *rows, const char *to, int level)
{
	struct choice choice = open_choice(rows);
	struct reader *reader = stream_open(path);
	struct record record;
	struct held *held = NULL;
	int64_t before = 0;

	bind(&choice, reader);
	if (rows->sample || rows->sorts.count)
		held = held_new(reader,
		    order_new(reader, rows->sorts.items, rows->sorts.count), rows->sample,
		    rows->seed);
	struct writer *writer = stream_create(to, reader);
	if (level >= 0)
		stream_level(writer, level);
	if (rows->sample)
		stream_seed(writer, rows->seed);
	struct progress *progress = stream_progress(reader);
	for (; !all_passed(&choice.ranges) && stream_next(reader, &record);
	     before += record.rows) {
		int64_t count = choose(&choice, &record, before);
		if (count && held)
			held_add(held, &record, choice.rows, count, before);
		else if (count)
			put_rows(&choice, reader, &record, count, writer);
	}
	close_choice(&choice, stream_columns(reader));
	if (held) {
		held_put(held, writer);
		held_free(held);
	}
	stream_finish(writer);
	progress_free(progress);
	stream_close(reader);
}
