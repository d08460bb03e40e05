#include "text/qrels.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/datafile.h"
#include "text/tsv.h"

struct loading {
	struct qrels *qrels;
	size_t capacity;
	struct datafile *file;
};

static void
add(struct loading *loading, const char *query, size_t query_length, const char *document,
    size_t document_length, double grade)
{
	struct qrels *qrels = loading->qrels;

	if (query_length == 0 || document_length == 0)
		datafile_die(loading->file, "an id is empty");
	if (grade != floor(grade) || fabs(grade) > 1e6)
		datafile_die(
		    loading->file, "the grade should be a whole number up to a million");
	qrels->judgements = mem_grow(qrels->judgements, &loading->capacity,
	    (size_t)qrels->count + 1, sizeof *qrels->judgements);
	qrels->judgements[qrels->count] =
	    (struct judgement){ strings_add(qrels->queries, query, query_length, NULL),
		    strings_add(qrels->documents, document, document_length, NULL),
		    (int64_t)grade, qrels->count };
	qrels->count++;
}

static void
add_line(struct loading *loading, const char *text)
{
	enum { COLUMNS = 4 };
	struct tsv_column column[COLUMNS];
	int count = tsv_cut(text, column, COLUMNS);
	double grade;

	if (count == 0)
		return;
	if (count != 3 && count != 4)
		datafile_die(loading->file,
		    "expected query, document, grade (or TREC's four columns)");
	if (number_read(column[count - 1].start, column[count - 1].length, &grade))
		add(loading, column[0].start, column[0].length, column[count - 2].start,
		    column[count - 2].length, grade);
	else if (datafile_line(loading->file) != 1)
		datafile_die(loading->file, "the grade is not a number");
}

static const struct tree *
member(const struct loading *loading, const struct tree *record, const char *const *names)
{
	for (int i = 0; names[i]; i++) {
		const struct tree *value = tree_get(record, names[i]);
		if (value)
			return value;
	}
	char *what = mem_format("there is no member '%s'", names[0]);
	datafile_die(loading->file, what);
}

/* 3.0, true or null name nothing, though they could be printed. */
bool
qrels_id(const struct tree *value, char room[QRELS_ID_ROOM], struct tsv_column *id)
{
	if (value->kind == TREE_STRING)
		*id = (struct tsv_column){ value->string, value->length };
	else if (value->kind == TREE_INTEGER)
		*id = (struct tsv_column){ room, (size_t)snprintf(room, QRELS_ID_ROOM,
						     "%lld", (long long)value->integer) };
	else
		return false;
	return true;
}

static struct tsv_column
id_of(const struct loading *loading, const struct tree *value, char room[QRELS_ID_ROOM])
{
	struct tsv_column id;

	if (!qrels_id(value, room, &id))
		datafile_die(loading->file, "an id is neither text nor a whole number");
	return id;
}

static void
add_object(struct loading *loading, const struct tree *record)
{
	static const char *const query_names[] = { "query-id", "query_id", "qid", NULL };
	static const char *const document_names[] = { "corpus-id", "corpus_id", "doc_id",
		"docid", NULL };
	static const char *const grade_names[] = { "score", "grade", "relevance", NULL };
	const struct tree *query = member(loading, record, query_names);
	const struct tree *document = member(loading, record, document_names);
	const struct tree *grade = member(loading, record, grade_names);

	double value = grade->real;
	bool number = grade->kind == TREE_INTEGER || grade->kind == TREE_REAL;

	if (grade->kind == TREE_STRING && datafile_untyped(loading->file))
		number = number_read(grade->string, grade->length, &value);
	if (!number)
		datafile_die(loading->file, "the grade is not a number");
	char room[2][QRELS_ID_ROOM];
	struct tsv_column ids[2] = { id_of(loading, query, room[0]),
		id_of(loading, document, room[1]) };
	add(loading, ids[0].start, ids[0].length, ids[1].start, ids[1].length, value);
}

static int
by_document(const void *a, const void *b)
{
	const struct judgement *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->document != y->document)
		return x->document < y->document ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void
sort(struct qrels *qrels)
{
	struct judgement *all = qrels->judgements;
	int64_t kept = 0, queries = strings_count(qrels->queries);

	qsort(all, (size_t)qrels->count, sizeof *all, by_document);
	for (int64_t i = 0; i < qrels->count; i++) {
		bool again = kept && all[kept - 1].query == all[i].query &&
			     all[kept - 1].document == all[i].document;
		all[again ? kept - 1 : kept++] = all[i];
	}
	qrels->repeated = qrels->count - kept;
	qrels->count = kept;
	qrels->starts = mem_zero((size_t)queries + 1, sizeof *qrels->starts);
	for (int64_t i = 0; i < kept; i++)
		qrels->starts[all[i].query + 1]++;
	for (int64_t i = 0; i < queries; i++)
		qrels->starts[i + 1] += qrels->starts[i];
}

/* A TSV needs no header line and so is not read as a table. */
static enum datafile_format
format_of(struct input *input)
{
	static const char *const csv[] = { "*.csv", "*.csv.gz", "*.csv.zst" };

	for (int i = 0; i < 3; i++)
		if (fnmatch(csv[i], input_name(input), 0) == 0)
			return DATAFILE_CSV;
	return input_starts_with(input, "{") ? DATAFILE_JSONL : DATAFILE_LINES;
}

struct qrels *
qrels_read(const char *path)
{
	struct input *input = input_open(path);
	enum datafile_format format = format_of(input);
	struct loading loading = { mem_zero(1, sizeof *loading.qrels), 0,
		datafile_open_input(input, format) };
	struct qrels *qrels = loading.qrels;
	const struct tree *record;

	qrels->queries = strings_new();
	qrels->documents = strings_new();
	while ((record = datafile_next(loading.file))) {
		if (format != DATAFILE_LINES)
			add_object(&loading, record);
		else
			add_line(&loading, tree_string(record, "text", ""));
	}
	if (qrels->count == 0)
		die("%s: there are no judgements in it", path);
	datafile_close(loading.file);
	sort(qrels);
	return qrels;
}

int64_t
qrels_grade(const struct qrels *qrels, int64_t query, int64_t document)
{
	int64_t low = qrels->starts[query], high = qrels->starts[query + 1];

	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (qrels->judgements[middle].document == document)
			return qrels->judgements[middle].grade;
		if (qrels->judgements[middle].document < document)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

void
qrels_free(struct qrels *qrels)
{
	strings_free(qrels->queries);
	strings_free(qrels->documents);
	free(qrels->judgements);
	free(qrels->starts);
	free(qrels);
}
