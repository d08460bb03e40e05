#include "mts/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/strings.h"
#include "stream/stream_format.h"
#include "stream/values.h"

struct criterion {
	int column;
	bool falls;
	struct strings *texts; /* the distinct texts of a text column, else NULL */
	bool only_numbers;     /* all texts can be read as numbers */
};

struct order {
	const struct reader *reader;
	int count;
	struct criterion *criteria;
};

struct order *
order_new(const struct reader *reader, const char *const *names, int count)
{
	struct order *order = mem_zero(1, sizeof *order);

	order->reader = reader;
	order->count = count;
	order->criteria = mem_zero((size_t)count, sizeof *order->criteria);
	for (int i = 0; i < count; i++) {
		struct criterion *by = &order->criteria[i];
		by->falls = names[i][0] == '-';
		const char *name = names[i] + by->falls;
		by->column = stream_find(reader, name);
		if (by->column < 0)
			stream_lacks(reader, name);
		const struct column *column = stream_column(reader, by->column);
		if (column->rank || column->depth > column->text)
			die("%s: column %s: rows are sorted by one value a row",
			    stream_name(reader), column_text(column));
		by->texts = column->text ? strings_new() : NULL;
		by->only_numbers = true;
	}
	return order;
}

int
order_count(const struct order *order)
{
	return order->count;
}

/* Maps a double to an integer that preserves the order. */
static int64_t
key_of_real(double value)
{
	int64_t bits;

	value += 0.0; /* -0 is 0 */
	memcpy(&bits, &value, sizeof bits);
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static int64_t
key_of(struct criterion *by, const struct column *column, const struct array *array,
    int64_t row)
{
	const char *at = array->data;
	char room[VALUES_ROOM];
	size_t length;
	int64_t key;
	double real;

	if (column->text) {
		const char *text = values_text(column, array, row, room, &length);
		by->only_numbers = by->only_numbers && number_read(text, length, &real);
		return strings_add(by->texts, text, length, NULL);
	}
	at += (size_t)row * dtype_size(column->dtype);
	if (column->dtype == DTYPE_I64) {
		memcpy(&key, at, sizeof key);
	} else {
		tensor_to_f64(&real, at, column->dtype, 1);
		if (isnan(real))
			return INT64_MAX;
		key = key_of_real(real);
	}
	return by->falls ? ~key : key;
}

void
order_keys(struct order *order, const struct record *record, int64_t row, int64_t *keys)
{
	for (int i = 0; i < order->count; i++) {
		struct criterion *by = &order->criteria[i];
		keys[i] = key_of(by, stream_column(order->reader, by->column),
		    &record->columns[by->column], row);
	}
}

/* The rank of each text in byte order. */
static int64_t *
ranks_of(const struct strings *texts)
{
	int64_t count = strings_count(texts);
	int64_t *sorted = strings_order(texts);
	int64_t *ranks = mem_new((size_t)count + 1, sizeof *ranks);

	for (int64_t i = 0; i < count; i++)
		ranks[sorted[i]] = i;
	free(sorted);
	return ranks;
}

void
order_commit(struct order *order, int64_t *keys, int64_t rows)
{
	for (int i = 0; i < order->count; i++) {
		struct criterion *by = &order->criteria[i];
		if (!by->texts)
			continue;
		int64_t *ranks = ranks_of(by->texts);
		for (int64_t row = 0; row < rows; row++) {
			int64_t *key = keys + row * order->count + i;
			*key = by->falls ? ~ranks[*key] : ranks[*key];
		}
		free(ranks);
		if (by->only_numbers && strings_count(by->texts) > 1)
			warn(
			    "%s: column '%s' is text and is sorted as text, 10 before 9; 'mts from tsv --numbers' makes numbers",
			    stream_name(order->reader),
			    stream_column(order->reader, by->column)->name);
	}
}

void
order_free(struct order *order)
{
	for (int i = 0; i < order->count; i++)
		strings_free(order->criteria[i].texts);
	free(order->criteria);
	free(order);
}
