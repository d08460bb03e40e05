#include "score/multilabel_rows.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/stratify.h"

enum { LABELS_MOST = 20000 };

struct multilabel_rows
multilabel_open(const char *path, const struct score_options *options)
{
	static const char *const usual[] = { "label", "labels", NULL };
	struct multilabel_rows rows = { .path = path,
		.stream = labels_open(
		    path, options->fields[0], options->label, usual, "labels") };
	struct reader *reader = rows.stream.reader;

	values_single(reader, rows.stream.label, 1);
	rows.text = values_are_text(stream_column(reader, rows.stream.label));
	return rows;
}

static void
take_record(struct multilabel_rows *rows, struct strings *names, bool ids,
    const struct record *record)
{
	struct reader *reader = rows->stream.reader;
	int labels = rows->stream.label;
	const struct column *column = stream_column(reader, labels);
	const struct array *array = &record->columns[labels];
	char room[VALUES_ROOM];
	size_t length;

	for (int64_t row = 0; row < record->rows; row++) {
		numbers_add(&rows->starts, (int64_t)rows->label.count);
		for (int64_t i = values_start(column, array, row);
		     i < values_start(column, array, row + 1); i++)
			numbers_add(&rows->label,
			    labels_number(names, reader, labels, array, i, LABELS_MOST));
		rows->n++;
		if (!ids)
			continue;
		const char *id =
		    per_query_id(reader, record, row, rows->n, room, &length);
		text_column_add(&rows->ids, id, length);
	}
}

void
multilabel_read(struct multilabel_rows *rows, struct strings *names, bool ids)
{
	struct record record;

	struct reader *reader = rows->stream.reader;

	rows->subset = row_subset_start(rows->path, rows->stream.vectors);
	text_column_clear(&rows->ids);
	while (stream_next(reader, &record)) {
		take_record(rows, names, ids, &record);
		row_subset_add(&rows->subset, rows->stream.vectors, &record);
	}
	numbers_add(&rows->starts, (int64_t)rows->label.count);
	if (rows->n == 0)
		die("%s: there are no rows in it", stream_name(reader));
	labels_close(&rows->stream);
}

/* Whether a label of the row has fewer than `most` rows; then counts the row for all its labels. */
static bool
take_row(const struct multilabel_rows *rows, int64_t row, int64_t *counts, int most)
{
	const int64_t *label = rows->label.data, *starts = rows->starts.data;
	bool wanted = false;

	for (int64_t i = starts[row]; i < starts[row + 1]; i++)
		wanted |= counts[label[i]] < most;
	for (int64_t i = starts[row]; wanted && i < starts[row + 1]; i++)
		counts[label[i]]++;
	return wanted;
}

struct numbers
multilabel_undersample(
    const struct multilabel_rows *rows, int64_t labels, int most, struct pcg64 *pcg)
{
	int64_t *counts = mem_zero((size_t)labels + 1, sizeof *counts);
	int64_t *order = mem_new((size_t)rows->n, sizeof *order);
	struct numbers taken = { 0 };

	for (int64_t i = 0; i < rows->n; i++)
		order[i] = i;
	pcg64_shuffle(pcg, order, rows->n);
	for (int64_t i = 0; i < rows->n; i++)
		if (take_row(rows, order[i], counts, most))
			numbers_add(&taken, order[i]);
	free(counts);
	free(order);
	return taken;
}

static int
by_rank(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* The place of each label in Python's order: text by its characters, even if all of it is numbers. */
static int32_t *
rank_labels(const struct strings *names, bool text)
{
	size_t count = (size_t)strings_count(names);
	int32_t *rank = mem_new(count + 1, sizeof *rank);
	int64_t *by_bytes = text ? strings_order(names) : NULL;
	int32_t *by_value = text ? NULL : labels_sorted(names);

	for (size_t i = 0; i < count; i++)
		rank[text ? by_bytes[i] : by_value[i]] = (int32_t)i;
	free(by_bytes);
	free(by_value);
	return rank;
}

/* The ranks of each row's labels, ascending, each once. */
static int64_t *
rank_rows(
    const struct multilabel_rows *rows, const struct strings *names, int32_t *ranked)
{
	int32_t *rank = rank_labels(names, rows->text);
	int64_t *starts = mem_new((size_t)rows->n + 1, sizeof *starts), count = 0;

	for (int64_t row = 0; row < rows->n; row++) {
		int32_t *first = ranked + count;
		int64_t given = rows->starts.data[row + 1] - rows->starts.data[row],
			kept = 0;
		for (int64_t i = 0; i < given; i++)
			first[i] = rank[rows->label.data[rows->starts.data[row] + i]];
		qsort(first, (size_t)given, sizeof *first, by_rank);
		for (int64_t i = 0; i < given; i++)
			if (!kept || first[i] != first[kept - 1])
				first[kept++] = first[i];
		starts[row] = count;
		count += kept;
	}
	starts[rows->n] = count;
	free(rank);
	return starts;
}

struct numbers
multilabel_sample(const struct multilabel_rows *rows, const struct strings *names,
    int64_t most, uint32_t seed)
{
	struct numbers sample = { .data = mem_new((size_t)rows->n, sizeof(int64_t)) };

	if (rows->n <= most) {
		for (int64_t i = 0; i < rows->n; i++)
			sample.data[sample.count++] = i;
		return sample;
	}
	int32_t *ranked = mem_new(rows->label.count + 1, sizeof *ranked);
	int64_t *starts = rank_rows(rows, names, ranked);
	struct label_lists lists = { ranked, starts, rows->n,
		(int32_t)strings_count(names) };
	sample.count = (size_t)stratify_labels(&lists, most, seed, sample.data);
	free(ranked);
	free(starts);
	return sample;
}

void
multilabel_free(struct multilabel_rows *rows)
{
	row_subset_free(&rows->subset);
	free(rows->label.data);
	free(rows->starts.data);
	text_column_free(&rows->ids);
}
