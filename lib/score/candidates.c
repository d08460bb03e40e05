#include "score/candidates.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/run.h"
#include "score/tally.h"

struct candidates {
	const char *path;
	struct run *run;
	int64_t *queries, count; /* by document */
	int64_t *starts;	 /* [documents + 1] into queries */
};

/* A candidate and its query, by number. */
struct pair {
	int64_t document, query;
};

static int
by_document(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->document != y->document)
		return x->document < y->document ? -1 : 1;
	return (x->query > y->query) - (x->query < y->query);
}

static struct pair *
list_pairs(struct candidates *candidates, const struct strings *queries)
{
	struct tally without = { 0 };
	struct pair *pairs = NULL;
	size_t room = 0;

	for (int64_t query = 0; query < strings_count(queries); query++) {
		const char *id = strings_get(queries, query);
		size_t length = strings_length(queries, query);
		int64_t number = strings_find(candidates->run->queries, id, length);
		const struct hit *hits;
		int64_t count = 0;
		if (number < 0)
			tally_note(&without, id, length);
		else
			count = run_hits(candidates->run, number, &hits);
		pairs = mem_grow(
		    pairs, &room, (size_t)(candidates->count + count), sizeof *pairs);
		for (int64_t i = 0; i < count; i++)
			pairs[candidates->count++] =
			    (struct pair){ hits[i].document, query };
	}
	tally_tell(&without, candidates->path,
	    "queries have no candidates: nothing is found for them");
	return pairs;
}

struct candidates *
candidates_read(const char *path, const struct strings *queries, const char *stream)
{
	struct candidates *candidates = mem_zero(1, sizeof *candidates);

	candidates->path = path;
	candidates->run = run_read_candidates(path);
	struct pair *pairs = list_pairs(candidates, queries);
	int64_t documents = strings_count(candidates->run->documents);
	int64_t count = candidates->count;
	if (count == 0)
		die("%s: there is no candidate for any query of %s", path, stream);
	qsort(pairs, (size_t)count, sizeof *pairs, by_document);
	candidates->queries = mem_new((size_t)count, sizeof *candidates->queries);
	candidates->starts = mem_zero((size_t)documents + 1, sizeof *candidates->starts);
	for (int64_t i = 0; i < count; i++) {
		candidates->queries[i] = pairs[i].query;
		candidates->starts[pairs[i].document + 1]++;
	}
	for (int64_t i = 0; i < documents; i++)
		candidates->starts[i + 1] += candidates->starts[i];
	free(pairs);
	return candidates;
}

int64_t
candidates_queries(const struct candidates *candidates, const char *document,
    size_t length, const int64_t **queries)
{
	int64_t number = strings_find(candidates->run->documents, document, length);

	if (number < 0)
		return 0;
	*queries = candidates->queries + candidates->starts[number];
	return candidates->starts[number + 1] - candidates->starts[number];
}

void
candidates_close(struct candidates *candidates, const struct strings *corpus)
{
	const struct strings *documents = candidates->run->documents;
	struct tally absent = { 0 };

	for (int64_t i = 0; i < strings_count(documents); i++) {
		const char *id = strings_get(documents, i);
		size_t length = strings_length(documents, i);
		if (strings_find(corpus, id, length) < 0)
			tally_note(&absent, id, length);
	}
	tally_tell(&absent, candidates->path,
	    "candidates are not in the corpus: they are not found");
	run_free(candidates->run);
	free(candidates->queries);
	free(candidates->starts);
	free(candidates);
}
