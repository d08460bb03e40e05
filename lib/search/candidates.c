#include "search/candidates.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/rows.h"

/* A (query, document) pair; the pairs of a document are linked. */
struct candidate_link {
	int64_t query, before; /* before: index of the document's previous pair, or -1 */
};

struct candidate_lists {
	const char *path;
	struct run *run;
	struct candidate_link *at;
	int64_t count,
	    *last; /* last [documents of the run]: index of the last pair, or -1 */
	size_t room;
	struct findings findings;
};

/* Adds the candidates of one query. */
static void
add(struct candidate_lists *all, int64_t query, const struct hits *hits)
{
	all->at = mem_grow(
	    all->at, &all->room, (size_t)(all->count + hits->count), sizeof *all->at);
	for (int64_t i = 0; i < hits->count; i++) {
		int64_t *last = &all->last[hits->at[i].document];
		all->at[all->count] = (struct candidate_link){ query, *last };
		*last = all->count++;
	}
}

struct candidate_lists *
candidates_read(const char *path, const struct strings *queries, const char *name)
{
	struct candidate_lists *all = mem_zero(1, sizeof *all);
	struct warning without = { 0 };

	all->path = path;
	all->run = run_read_candidates(path);
	int64_t documents = strings_count(all->run->documents);
	all->last = mem_new((size_t)documents, sizeof *all->last);
	for (int64_t i = 0; i < documents; i++)
		all->last[i] = -1;
	for (int64_t i = 0; i < strings_count(queries); i++) {
		const char *id = strings_get(queries, i);
		size_t length = strings_length(queries, i);
		int64_t number = strings_find(all->run->queries, id, length);
		if (number < 0)
			warning_add(&without, id, length);
		else
			add(all, i, &all->run->hits[number]);
	}
	warning_print(
	    &without, path, "queries have no candidates: nothing is found for them");
	if (all->count == 0)
		die("%s: there is no candidate for any query of %s", path, name);
	return all;
}

void
candidates_compare(struct candidate_lists *all, const char *id, size_t length,
    int64_t document, candidates_score *score, const void *context)
{
	int64_t number = strings_find(all->run->documents, id, length);

	for (int64_t i = number < 0 ? -1 : all->last[number]; i >= 0;
	     i = all->at[i].before) {
		int64_t query = all->at[i].query;
		double exact = score(context, query);
		run_put(
		    &all->findings, query, document, isnan(exact) ? -1 : (float)exact);
	}
}

void
candidates_finish(struct candidate_lists *all, struct run *run, int64_t depth)
{
	const char *first;
	int64_t absent = strings_lacking(run->documents, all->run->documents, &first);

	if (absent)
		warn(
		    "%s: %lld candidates are not in the corpus: they are not found; first: '%.100s'",
		    all->path, (long long)absent, first);
	run_commit(run, &all->findings, depth, NULL);
	run_free(all->run);
	free(all->at);
	free(all->last);
	free(all);
}
