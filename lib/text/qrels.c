#include "text/qrels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/triples.h"

static const char *
put(void *context, const struct triple *triple)
{
	struct qrels *qrels = context;
	double grade = triple->number;

	if (grade != floor(grade) || fabs(grade) > 1e6)
		return "the grade should be a whole number up to a million";
	qrels->judgements = mem_grow(qrels->judgements, &qrels->capacity,
	    (size_t)qrels->count + 1, sizeof *qrels->judgements);
	qrels->judgements[qrels->count] =
	    (struct judgement){ strings_add(qrels->queries, triple->query.start,
				    triple->query.length, NULL),
		    strings_add(qrels->documents, triple->document.start,
			triple->document.length, NULL),
		    (int64_t)grade, qrels->count };
	qrels->count++;
	return NULL;
}

/* Query, document, grade; or TREC's four columns. */
static const char *
place(void *context, const struct tsv_column *columns, int count, struct triple *triple)
{
	(void)context;
	if (count != 3 && count != 4)
		return "expected query, document, grade (or TREC's four columns)";
	triple->query = columns[0];
	triple->document = columns[count - 2];
	return number_read(
		   columns[count - 1].start, columns[count - 1].length, &triple->number)
		   ? NULL
		   : "the grade is not a number, and this is not a line of names as query-id, corpus-id, score";
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

struct qrels *
qrels_read(const char *path)
{
	static const char *const grades[] = { "score", "grade", "relevance", "rel",
		"label", "judgment", "judgement", NULL };
	struct qrels *qrels = mem_zero(1, sizeof *qrels);
	struct triples triples = { "grade", grades, true, place, put, qrels };

	qrels->queries = strings_new();
	qrels->documents = strings_new();
	triples_read(&triples, input_open(path));
	if (qrels->count == 0)
		die("%s: there are no judgements in it", path);
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
	return INT64_MIN;
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
