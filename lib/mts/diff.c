#include "mts/mts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/terminal.h"
#include "stream/print.h"
#include "stream/cursor.h"
#include "stream/stream_format.h"

enum { SHOWN = 60 };

/* A column of both streams, and its differences. */
struct shared {
	int index[2];
	int64_t values, different; /* numbers, or strings of text */
	int64_t lengths;	   /* rows with lists of different lengths */
	char *first;		   /* description of the first difference; NULL: none */
	double largest;		   /* error, at the row and index below */
	int64_t largest_row, largest_index;
};

struct stream_diff {
	struct reader *readers[2];
	double absolute, relative;
	struct shared *columns;
	int count;
	bool same;
};

/* Whether two columns can be compared; if not, prints why. */
static bool
comparable(const struct column *one, const struct column *two)
{
	bool same_shape =
	    one->rank == two->rank &&
	    !memcmp(one->shape, two->shape, (size_t)one->rank * sizeof *one->shape);

	if (one->text == two->text && one->depth == two->depth && same_shape)
		return true;
	char *here = column_text(one), *there = column_text(two);
	printf("column %s: the other is %s\n", here, there);
	free(here);
	free(there);
	return false;
}

static void
print_only(const struct column *column, const struct reader *reader)
{
	printf("column ");
	terminal_print(column->name);
	printf(": only in ");
	terminal_print(stream_name(reader));
	putchar('\n');
}

static void
find_shared(struct stream_diff *diff)
{
	struct reader *one = diff->readers[0], *two = diff->readers[1];

	diff->columns = mem_zero((size_t)stream_columns(one), sizeof *diff->columns);
	for (int i = 0; i < stream_columns(one); i++) {
		const struct column *column = stream_column(one, i);
		int other = stream_find(two, column->name);
		if (other < 0)
			print_only(column, one);
		if (other < 0 || !comparable(column, stream_column(two, other))) {
			diff->same = false;
			continue;
		}
		struct shared *shared = &diff->columns[diff->count++];
		*shared = (struct shared){ .index = { i, other }, .largest = -1 };
	}
	for (int i = 0; i < stream_columns(two); i++)
		if (stream_find(one, stream_column(two, i)->name) < 0) {
			print_only(stream_column(two, i), two);
			diff->same = false;
		}
}

/* The error of two numbers: 0 if equal or both NaN, infinite if one is NaN or infinite. */
static double
error_of(enum dtype one, const char *x, enum dtype two, const char *y, double *size)
{
	long double a = tensor_number(x, one, 0), b = tensor_number(y, two, 0);

	*size = (double)fabsl(b);
	if (a == b || (isnan(a) && isnan(b)))
		return 0;
	return isfinite(a) && isfinite(b) ? (double)fabsl(a - b) : INFINITY;
}

static void
note_numbers(struct shared *shared, const struct column *columns[2], const char *x,
    const char *y, int64_t row, int64_t index)
{
	struct buffer text = { 0 };

	print_format(&text, "row %lld, index %lld: ", (long long)row, (long long)index);
	print_number(&text, columns[0]->dtype, x, 0);
	print_text(&text, " and ");
	print_number(&text, columns[1]->dtype, y, 0);
	buffer_add(&text, "", 1);
	shared->first = text.data;
}

/* Compares `count` numbers of one row. */
static void
compare_numbers(struct stream_diff *diff, struct shared *shared,
    const struct column *columns[2], const char *x, const char *y, int64_t count,
    int64_t row)
{
	size_t sizes[2] = { dtype_size(columns[0]->dtype),
		dtype_size(columns[1]->dtype) };

	shared->values += count;
	if (columns[0]->dtype == columns[1]->dtype &&
	    !memcmp(x, y, (size_t)count * sizes[0]))
		return;
	for (int64_t i = 0; i < count; i++, x += sizes[0], y += sizes[1]) {
		double size,
		    error = error_of(columns[0]->dtype, x, columns[1]->dtype, y, &size);
		if (error > shared->largest) {
			shared->largest = error;
			shared->largest_row = row;
			shared->largest_index = i;
		}
		double allowed = diff->absolute + diff->relative * size;
		if (error <= (isfinite(allowed) ? allowed : diff->absolute))
			continue;
		shared->different++;
		if (!shared->first)
			note_numbers(shared, columns, x, y, row, i);
	}
}

static void
compare_texts(
    struct shared *shared, const char *texts[2], const size_t lengths[2], int64_t row)
{
	shared->values++;
	if (lengths[0] == lengths[1] && !memcmp(texts[0], texts[1], lengths[0]))
		return;
	shared->different++;
	if (shared->first)
		return;
	struct buffer text = { 0 };
	print_format(&text, "row %lld: ", (long long)row);
	for (int i = 0; i < 2; i++) {
		print_string(&text, texts[i], lengths[i] < SHOWN ? lengths[i] : SHOWN);
		print_text(&text, lengths[i] > SHOWN ? "..." : "");
		print_text(&text, i ? "" : " and ");
	}
	buffer_add(&text, "", 1);
	shared->first = text.data;
}

/* Whether the lists of a row have equal lengths. */
static bool
same_lengths(const struct column *column, const struct array *arrays[2], int64_t row)
{
	int64_t first[2], count[2];

	for (int i = 0; i < 2; i++) {
		first[i] = arrays[i]->offsets[0][row];
		count[i] = arrays[i]->offsets[0][row + 1] - first[i];
	}
	if (count[0] != count[1] && !(column->text && column->depth == 1))
		return false;
	if (column->depth == 1 || column->text)
		return true;
	for (int64_t i = 0; i < count[0]; i++) {
		const int64_t *one = arrays[0]->offsets[1] + first[0] + i;
		const int64_t *two = arrays[1]->offsets[1] + first[1] + i;
		if (one[1] - one[0] != two[1] - two[0])
			return false;
	}
	return true;
}

static void
compare_row(struct stream_diff *diff, struct shared *shared,
    const struct column *columns[2], const struct array *arrays[2], int64_t row,
    int64_t number)
{
	int64_t first[2] = { row, row }, last[2] = { row + 1, row + 1 };
	int64_t width =
	    (int64_t)(column_element_size(columns[0]) / dtype_size(columns[0]->dtype));
	const char *data[2];
	int levels = columns[0]->depth - columns[0]->text;

	if (columns[0]->depth && !same_lengths(columns[0], arrays, row)) {
		if (!shared->first)
			shared->first =
			    mem_format("row %lld: the lists are not of the same length",
				(long long)number);
		shared->lengths++;
		return;
	}
	for (int i = 0; i < 2; i++)
		for (int d = 0; d < levels; d++) {
			first[i] = arrays[i]->offsets[d][first[i]];
			last[i] = arrays[i]->offsets[d][last[i]];
		}
	for (int64_t text = 0; columns[0]->text && text < last[0] - first[0]; text++) {
		size_t lengths[2];
		for (int i = 0; i < 2; i++) {
			const int64_t *offsets =
			    arrays[i]->offsets[levels] + first[i] + text;
			data[i] = (const char *)arrays[i]->data + offsets[0];
			lengths[i] = (size_t)(offsets[1] - offsets[0]);
		}
		compare_texts(shared, data, lengths, number);
	}
	if (columns[0]->text)
		return;
	for (int i = 0; i < 2; i++)
		data[i] = (const char *)arrays[i]->data +
			  (size_t)first[i] * column_element_size(columns[i]);
	compare_numbers(diff, shared, columns, data[0], data[1],
	    (last[0] - first[0]) * width, number);
}

static void
compare_rows(struct stream_diff *diff)
{
	struct cursor *cursors[2] = { cursor_new(diff->readers[0]),
		cursor_new(diff->readers[1]) };
	int64_t left[2];

	while ((left[0] = cursor_left(cursors[0])), (left[1] = cursor_left(cursors[1])),
	    left[0] && left[1]) {
		int64_t rows = left[0] < left[1] ? left[0] : left[1];
		int64_t before = cursor_taken(cursors[0]);
		const struct array *both[2] = { cursor_take(cursors[0], rows),
			cursor_take(cursors[1], rows) };
		for (int p = 0; p < diff->count; p++) {
			struct shared *shared = &diff->columns[p];
			const struct column *columns[2];
			const struct array *arrays[2];
			for (int i = 0; i < 2; i++) {
				columns[i] =
				    stream_column(diff->readers[i], shared->index[i]);
				arrays[i] = &both[i][shared->index[i]];
			}
			for (int64_t row = 0; row < rows; row++)
				compare_row(
				    diff, shared, columns, arrays, row, before + row + 1);
		}
	}
	for (int i = 0; i < 2; i++)
		if (left[i]) {
			printf(
			    "rows: only %lld in ", (long long)cursor_taken(cursors[!i]));
			terminal_print(stream_name(diff->readers[!i]));
			putchar('\n');
			diff->same = false;
		}
	cursor_free(cursors[0]);
	cursor_free(cursors[1]);
}

static void
report(struct stream_diff *diff, const struct shared *shared)
{
	const struct column *column = stream_column(diff->readers[0], shared->index[0]);

	if (!shared->first)
		return;
	diff->same = false;
	printf("column ");
	terminal_print(column->name);
	printf(": %s", shared->first);
	if (shared->lengths)
		printf("; %lld rows have lists of other lengths",
		    (long long)shared->lengths);
	printf("; %lld of %lld %s differ", (long long)shared->different,
	    (long long)shared->values, column->text ? "texts" : "numbers");
	if (shared->largest > 0)
		printf(", the largest error is %.6g at row %lld, index %lld",
		    shared->largest, (long long)shared->largest_row,
		    (long long)shared->largest_index);
	putchar('\n');
}

bool
diff_streams(struct reader *one, struct reader *two, double absolute, double relative)
{
	struct stream_diff diff = { .readers = { one, two },
		.absolute = absolute,
		.relative = relative,
		.same = true };

	find_shared(&diff);
	struct progress *progress = stream_progress(one);
	compare_rows(&diff);
	progress_free(progress);
	for (int i = 0; i < diff.count; i++) {
		report(&diff, &diff.columns[i]);
		free(diff.columns[i].first);
	}
	free(diff.columns);
	return diff.same;
}
