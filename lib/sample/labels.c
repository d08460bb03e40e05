#include "sample/labels.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"

struct member {
	uint64_t text;
	int64_t row, label;
};

struct label {
	uint64_t text; /* of its first row */
	bool several;  /* it has another text */
};

struct labels {
	struct strings *names;
	struct label *labels;
	struct member *members; /* as added; then by label, text, row */
	size_t count, member_room, label_room;
	size_t *starts; /* [labels + 1] into members */
};

struct labels *
labels_new(void)
{
	struct labels *labels = mem_zero(1, sizeof *labels);

	labels->names = strings_new();
	return labels;
}

void
labels_add(
    struct labels *labels, const char *label, size_t length, uint64_t text, int64_t row)
{
	bool fresh;
	int64_t number = strings_add(labels->names, label, length, &fresh);

	if (fresh) {
		labels->labels = mem_grow(labels->labels, &labels->label_room,
		    (size_t)number + 1, sizeof *labels->labels);
		labels->labels[number] = (struct label){ .text = text };
	}
	labels->labels[number].several |= labels->labels[number].text != text;
	labels->members = mem_grow(labels->members, &labels->member_room,
	    labels->count + 1, sizeof *labels->members);
	labels->members[labels->count++] = (struct member){ text, row, number };
}

static int
by_label(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->text != y->text)
		return x->text < y->text ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void
sort(struct labels *labels)
{
	if (labels->count)
		qsort(labels->members, labels->count, sizeof *labels->members, by_label);
}

/* Removes the members of labels with one text. */
static void
keep_several(struct labels *labels, const char *dataset)
{
	int64_t alone = 0, first = -1;
	size_t kept = 0;

	for (size_t i = 0; i < labels->count; i++)
		if (labels->labels[labels->members[i].label].several)
			labels->members[kept++] = labels->members[i];
	for (int64_t l = 0; l < strings_count(labels->names); l++)
		if (!labels->labels[l].several) {
			first = first < 0 ? l : first;
			alone++;
		}
	if (alone)
		warn(
		    "data set %s: %lld of %lld labels have one text only, '%.60s' for one: %zu rows are left out",
		    dataset, (long long)alone, (long long)strings_count(labels->names),
		    strings_get(labels->names, first), labels->count - kept);
	labels->count = kept;
}

void
labels_finish(struct labels *labels, const char *dataset, struct numbers *rows)
{
	size_t names = (size_t)strings_count(labels->names);

	keep_several(labels, dataset);
	for (size_t i = 0; i < labels->count; i++)
		numbers_add(rows, labels->members[i].row);
	sort(labels);
	labels->starts = mem_zero(names + 1, sizeof *labels->starts);
	for (size_t i = 0; i < labels->count; i++)
		labels->starts[labels->members[i].label + 1]++;
	for (size_t l = 0; l < names; l++)
		labels->starts[l + 1] += labels->starts[l];
}

void
labels_group(
    struct labels *labels, int64_t most, struct numbers *rows, struct numbers *starts)
{
	const struct member *members = labels->members;

	sort(labels);
	for (size_t i = 0, start = 0; i < labels->count; start = rows->count) {
		int64_t label = members[i].label;
		for (; i < labels->count && members[i].label == label; i++)
			if (rows->count == start ||
			    members[i].text != members[i - 1].text)
				numbers_add(rows, members[i].row);
		int64_t count = (int64_t)(rows->count - start);
		int64_t sets = (count - 1) / most + 1;
		for (int64_t s = 0; s < sets; s++)
			numbers_add(starts, (int64_t)start + count * s / sets);
	}
	numbers_add(starts, (int64_t)rows->count);
}

/* The first of the members low .. high-1, of one label, whose text is not less. */
static size_t
find(const struct labels *labels, size_t low, size_t high, uint64_t text)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (labels->members[middle].text < text)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t
labels_other(const struct labels *labels, const char *label, size_t length, uint64_t text,
    const uint64_t *chance)
{
	int64_t number = strings_find(labels->names, label, length);

	if (number < 0)
		return -1;
	size_t start = labels->starts[number], end = labels->starts[number + 1];
	size_t same = find(labels, start, end, text), behind = same;
	while (behind < end && labels->members[behind].text == text)
		behind++;
	size_t others = end - start - (behind - same);
	if (!others)
		return -1;
	size_t at = start + (size_t)((chance ? *chance : same - start) % others);
	return labels->members[at < same ? at : at + (behind - same)].row;
}

void
labels_free(struct labels *labels)
{
	strings_free(labels->names);
	free(labels->labels);
	free(labels->members);
	free(labels->starts);
	free(labels);
}
