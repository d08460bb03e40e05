#include "mteb/drawn.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "score/undersample.h"
#include "text/datafile.h"
#include "text/json.h"

struct rows {
	int32_t *label;
	size_t capacity;
	int64_t n, classes;
};

static struct rows
read_labels(const char *path, const char *label)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	struct strings *names = strings_new();
	struct rows rows = { 0 };
	const struct tree *record;

	while ((record = datafile_next(file))) {
		const struct tree *value = tree_get(record, label);
		if (!value)
			die("%s:%lld: there is no '%s'", path,
			    (long long)datafile_line(file), label);
		char *text = json_text(value, 0);
		rows.label = mem_grow(
		    rows.label, &rows.capacity, (size_t)rows.n + 1, sizeof *rows.label);
		rows.label[rows.n++] =
		    (int32_t)strings_add(names, text, strlen(text), NULL);
		free(text);
	}
	rows.classes = strings_count(names);
	if (rows.classes > 1 << 20)
		die("%s: '%s' has %lld different values; these are no labels", path,
		    label, (long long)rows.classes);
	strings_free(names);
	datafile_close(file);
	return rows;
}

/* Labels of TSV and CSV are strings; those that are whole numbers are numbers in streams. */
static void
print_row(struct tree *record, const char *label, bool untyped)
{
	const struct tree *value = tree_get(record, label);
	char *end, round[24];

	if (untyped && value->kind == TREE_STRING) {
		long long number = strtoll(value->string, &end, 10);
		snprintf(round, sizeof round, "%lld", number);
		if (!strcmp(round, value->string))
			tree_set(record, label, tree_of_integer(number));
	}
	char *text = json_text(record, 0);
	puts(text);
	free(text);
}

static bool *
draw(const struct rows *rows, int samples, int experiments, uint32_t seed)
{
	struct sample *sample = undersample(
	    rows->label, rows->n, (int32_t)rows->classes, samples, experiments, seed);
	bool *is_drawn = mem_zero((size_t)rows->n + 1, sizeof *is_drawn);

	for (int e = 0; e < experiments; e++) {
		for (int64_t i = 0; i < sample[e].size; i++)
			is_drawn[sample[e].rows[i]] = true;
		free(sample[e].rows);
	}
	free(sample);
	return is_drawn;
}

int64_t
drawn_print(const char *path, const char *field, const char *label, int samples,
    int experiments, uint32_t seed)
{
	struct stat about;
	int64_t row = 0, left = 0;
	struct tree *record;

	if (stat(path, &about) || !S_ISREG(about.st_mode))
		die("%s: is read twice: a regular file is needed", path);
	struct rows rows = read_labels(path, label);
	bool *is_drawn = draw(&rows, samples, experiments, seed);
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	for (; row < rows.n && (record = datafile_next(file)); row++) {
		left += is_drawn[row];
		if (!is_drawn[row])
			tree_set(record, field, tree_of_string(""));
		print_row(record, label, datafile_untyped(file));
	}
	datafile_close(file);
	free(is_drawn);
	free(rows.label);
	return left;
}
