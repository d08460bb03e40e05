#include "mteb/rows_to_encode.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "mteb/text_fields.h"
#include "base/mt19937.h"
#include "text/datafile.h"
#include "text/json.h"
#include "text/qrels.h"
#include "text/triples.h"

static void
put(FILE *out, const struct tree *record)
{
	char *text = json_text(record, 0);

	fputs(text, out);
	fputc('\n', out);
	free(text);
}

/* Queries. ------------------------------------------------------------------------- */

static bool
is_judged(
    const struct qrels *qrels, const struct datafile *file, const struct tree *query)
{
	char room[TRIPLES_ID_ROOM];
	struct tsv_column text;

	if (!triples_record_id(query, room, &text))
		die("%s:%lld: there is no '_id' or 'id'", datafile_name(file),
		    (long long)datafile_line(file));
	return strings_find(qrels->queries, text.start, text.length) >= 0;
}

void
rows_to_encode_queries(const char *judgements, const char *queries, FILE *out)
{
	struct qrels *qrels = qrels_read(judgements);
	struct datafile *file = datafile_open(queries, DATAFILE_GUESS);
	const struct tree *query;

	while ((query = datafile_next(file)))
		if (is_judged(qrels, file, query))
			put(out, query);
	datafile_close(file);
	qrels_free(qrels);
}

/* Training texts. ------------------------------------------------------------------ */

enum { SEED = 42 }; /* as mteb */
static const char label[] = "label";

struct label_rows {
	int32_t *label;
	size_t capacity;
	int64_t n, classes;
};

static struct label_rows
read_labels(const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	struct strings *names = strings_new();
	struct label_rows rows = { 0 };
	const struct tree *record;

	while ((record = datafile_next(file))) {
		const struct tree *value = tree_get(record, label);
		if (tree_is_missing(value) ||
		    (value->kind == TREE_STRING && !value->length))
			die("%s:%lld: there is no '%s'", path,
			    (long long)datafile_line(file), label);
		if (value->kind == TREE_LIST)
			die("%s:%lld: '%s' is a list: say that the set is of type MultilabelClassification, by its folder or in tasks.yaml",
			    path, (long long)datafile_line(file), label);
		char *text = json_text(value, 0);
		rows.label = mem_grow(
		    rows.label, &rows.capacity, (size_t)rows.n + 1, sizeof *rows.label);
		rows.label[rows.n++] =
		    (int32_t)strings_add(names, text, strlen(text), NULL);
		free(text);
	}
	rows.classes = strings_count(names);
	if (rows.classes > 1 << 20)
		die("%s: '%s' has %lld different values; these are not labels", path,
		    label, (long long)rows.classes);
	strings_free(names);
	datafile_close(file);
	return rows;
}

static bool *
draw(const struct label_rows *rows, int samples, int experiments)
{
	struct mt19937_sample *sample = mt19937_undersample(
	    rows->label, rows->n, (int32_t)rows->classes, samples, experiments, SEED);
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
rows_to_encode_training(const char *path, int samples, int experiments, FILE *out)
{
	struct stat about;
	int64_t row = 0, left = 0;
	struct tree *record;

	if (stat(path, &about) || !S_ISREG(about.st_mode))
		die("%s: is read twice: a regular file is needed", path);
	char *option = text_fields_options("Classification", path);
	struct label_rows rows = read_labels(path);
	bool *is_drawn = draw(&rows, samples, experiments);
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	for (; row < rows.n && (record = datafile_next(file)); row++) {
		left += is_drawn[row];
		if (!is_drawn[row])
			tree_set(record, option + strlen("-f "), tree_of_string("."));
		put(out, record);
	}
	datafile_close(file);
	free(is_drawn);
	free(rows.label);
	free(option);
	return left;
}
