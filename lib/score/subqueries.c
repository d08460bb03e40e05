#include "score/subqueries.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"

/* The judged subqueries of one query that are in the run. */
struct subqueries {
	struct numbers members; /* numbers in run->queries */
	int64_t last;		/* number in qrels->queries */
};

struct merger {
	const struct run *run;
	struct run *merged;
	struct findings findings;
	float *greatest; /* [documents] */
	int64_t *
	    merged_by; /* [documents]: the last query, from 1, that has found the document */
	struct numbers found; /* documents of the query */
};

static struct subqueries *
collect(const struct run *run, const struct qrels *qrels, int64_t *count)
{
	struct strings *names = strings_new();
	struct subqueries *queries =
	    mem_zero((size_t)strings_count(qrels->queries), sizeof *queries);

	for (int64_t i = 0; i < strings_count(qrels->queries); i++) {
		const char *id = strings_get(qrels->queries, i);
		size_t length = strings_length(qrels->queries, i);
		const char *end = memrchr(id, '_', length);
		int64_t query =
		    strings_add(names, id, end ? (size_t)(end - id) : 0, NULL);
		int64_t member = strings_find(run->queries, id, length);
		queries[query].last = i;
		if (member >= 0)
			numbers_add(&queries[query].members, member);
	}
	*count = strings_count(names);
	strings_free(names);
	return queries;
}

static void
merge_hits(struct merger *merger, const struct hits *hits, int64_t query)
{
	for (int64_t i = 0; i < hits->count; i++) {
		uint32_t document = hits->at[i].document;
		float score = hits->at[i].score;
		if (merger->merged_by[document] != query + 1) {
			merger->merged_by[document] = query + 1;
			merger->greatest[document] = score;
			numbers_add(&merger->found, document);
		} else if (score > merger->greatest[document]) {
			merger->greatest[document] = score;
		}
	}
}

static void
merge_query(
    struct merger *merger, const struct subqueries *subqueries, const struct strings *ids)
{
	int64_t query = strings_add_from(merger->merged->queries, ids, subqueries->last);

	merger->found.count = 0;
	for (size_t i = 0; i < subqueries->members.count; i++)
		merge_hits(
		    merger, &merger->run->hits[subqueries->members.data[i]], query);
	for (size_t i = 0; i < merger->found.count; i++) {
		int64_t document = merger->found.data[i];
		run_put(&merger->findings, query, document, merger->greatest[document]);
	}
}

struct run *
subqueries_merge(const struct run *run, const struct qrels *qrels)
{
	size_t documents = (size_t)strings_count(run->documents);
	struct merger merger = { .run = run,
		.merged = run_new(),
		.greatest = mem_new(documents, sizeof *merger.greatest),
		.merged_by = mem_zero(documents, sizeof *merger.merged_by) };
	int64_t count;
	struct subqueries *queries = collect(run, qrels, &count);

	for (int64_t i = 0; i < strings_count(run->documents); i++)
		strings_add_from(merger.merged->documents, run->documents, i);
	for (int64_t i = 0; i < count; i++) {
		if (queries[i].members.count)
			merge_query(&merger, &queries[i], qrels->queries);
		free(queries[i].members.data);
	}
	run_commit(merger.merged, &merger.findings, 0, NULL);
	free(queries);
	free(merger.found.data);
	free(merger.greatest);
	free(merger.merged_by);
	return merger.merged;
}
