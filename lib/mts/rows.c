#include "mts/mts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "mts/reservoir.h"
#include "stream/condition.h"
#include "stream/gather.h"

/* Numbers of rows. ----------------------------------------------------------------- */

struct row_range {
	int64_t first, last;
};

struct row_ranges {
	struct row_range *items;    /* ascending, disjoint */
	size_t count, capacity, at; /* ranges before `at` have passed */
};

_Noreturn static void
refuse_range(const char *text)
{
	die_usage(
	    "--rows: '%s' is not a list such as 5,10-20,200-; rows count from 1", text);
}

/* Reads a number at *at and advances *at; returns `otherwise` if there is none. */
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
add_ranges(struct row_ranges *ranges, const char *text)
{
	for (const char *at = text;; at++) {
		struct row_range range;
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
	const struct row_range *one = a, *two = b;

	return (one->first > two->first) - (one->first < two->first);
}

static struct row_ranges
read_ranges(const struct cli_list *texts)
{
	struct row_ranges ranges = { 0 };
	size_t made = 0;

	for (int i = 0; i < texts->count; i++)
		add_ranges(&ranges, texts->items[i]);
	if (!ranges.count)
		return ranges;
	qsort(ranges.items, ranges.count, sizeof *ranges.items, by_first);
	for (size_t i = 1; i < ranges.count; i++) {
		struct row_range *last = &ranges.items[made], *next = &ranges.items[i];
		if (next->first > last->last)
			ranges.items[++made] = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	ranges.count = made + 1;
	return ranges;
}

/* Sets pass [rows] of rows before + 1 .. before + rows to whether they are in the ranges. */
static void
apply_ranges(struct row_ranges *ranges, int64_t before, int64_t rows, bool *pass)
{
	memset(pass, !ranges->count, (size_t)rows);
	while (ranges->at < ranges->count) {
		const struct row_range *range = &ranges->items[ranges->at];
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

struct row_filter {
	struct row_ranges ranges;
	struct condition **conditions;
	int count;
	bool *pass;
	int64_t *rows; /* of the record, that pass */
	struct row_ref *refs;
	size_t pass_capacity, rows_capacity, refs_capacity;
	struct gather *gathers; /* [columns] */
	struct array *arrays;	/* [columns] */
};

/* Returns the number of rows of a record that pass. */
static int64_t
choose(struct row_filter *filter, const struct record *record, int64_t before)
{
	size_t rows = (size_t)record->rows;
	int64_t count = 0;

	if (!rows)
		return 0;
	filter->pass = mem_grow(filter->pass, &filter->pass_capacity, rows, 1);
	filter->rows =
	    mem_grow(filter->rows, &filter->rows_capacity, rows, sizeof *filter->rows);
	apply_ranges(&filter->ranges, before, record->rows, filter->pass);
	for (int i = 0; i < filter->count; i++)
		condition_apply(filter->conditions[i], record, before, filter->pass);
	for (int64_t i = 0; i < record->rows; i++)
		if (filter->pass[i])
			filter->rows[count++] = i;
	return count;
}

static void
put_rows(struct row_filter *filter, const struct reader *reader,
    const struct record *record, int64_t count, struct writer *writer)
{
	if (count == record->rows) {
		stream_put(writer, stream_make(writer, record));
		return;
	}
	filter->refs = mem_grow(
	    filter->refs, &filter->refs_capacity, (size_t)count, sizeof *filter->refs);
	for (int64_t i = 0; i < count; i++)
		filter->refs[i] = (struct row_ref){ record->columns, filter->rows[i] };
	for (int c = 0; c < stream_columns(reader); c++)
		filter->arrays[c] = gather_rows(&filter->gathers[c],
		    stream_column(reader, c), c, filter->refs, count);
	struct record chosen = { count, record->attributes, filter->arrays };
	stream_put(writer, stream_make(writer, &chosen));
}

static bool
all_passed(const struct row_ranges *ranges)
{
	return ranges->count && ranges->at == ranges->count;
}

static struct row_filter
open_filter(const struct row_selection *rows)
{
	struct row_filter filter = { .ranges = read_ranges(&rows->numbers),
		.count = rows->conditions.count };

	filter.conditions = mem_new((size_t)filter.count, sizeof(struct condition *));
	for (int i = 0; i < filter.count; i++)
		filter.conditions[i] = condition_new(rows->conditions.items[i]);
	return filter;
}

static void
bind(struct row_filter *filter, const struct reader *reader)
{
	size_t columns = (size_t)stream_columns(reader);

	for (int i = 0; i < filter->count; i++)
		condition_bind(filter->conditions[i], reader);
	filter->gathers = mem_zero(columns, sizeof *filter->gathers);
	filter->arrays = mem_zero(columns, sizeof *filter->arrays);
}

static void
close_filter(struct row_filter *filter, int columns)
{
	for (int i = 0; i < filter->count; i++) {
		condition_end(filter->conditions[i]);
		condition_free(filter->conditions[i]);
	}
	for (int c = 0; c < columns; c++)
		gather_free(&filter->gathers[c]);
	free(filter->ranges.items);
	free(filter->conditions);
	free(filter->pass);
	free(filter->rows);
	free(filter->refs);
	free(filter->gathers);
	free(filter->arrays);
}

void
rows_select(const char *path, const struct row_selection *rows, const char *to, int level)
{
	struct row_filter filter = open_filter(rows);
	struct reader *reader = stream_open(path);
	struct record record;
	struct reservoir *reservoir = NULL;
	int64_t before = 0;

	bind(&filter, reader);
	if (rows->sample || rows->sorts.count)
		reservoir = reservoir_new(reader,
		    order_new(reader, rows->sorts.items, rows->sorts.count), rows->sample,
		    rows->seed);
	struct writer *writer = stream_create(to, reader);
	stream_level(writer, level);
	if (rows->sample)
		stream_seed(writer, rows->seed);
	struct progress *progress = stream_progress(reader);
	for (; !all_passed(&filter.ranges) && stream_next(reader, &record);
	     before += record.rows) {
		int64_t count = choose(&filter, &record, before);
		if (count && reservoir)
			reservoir_add(reservoir, &record, filter.rows, count, before);
		else if (count)
			put_rows(&filter, reader, &record, count, writer);
	}
	close_filter(&filter, stream_columns(reader));
	if (reservoir) {
		reservoir_put(reservoir, writer);
		reservoir_free(reservoir);
	}
	stream_finish(writer);
	progress_free(progress);
	stream_close(reader);
}
