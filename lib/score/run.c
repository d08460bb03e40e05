#include "score/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"

struct found {
	int64_t query, place; /* in the order of run_put */
	struct hit hit;
};

struct run *
run_new(void)
{
	struct run *run = mem_zero(1, sizeof *run);

	run->queries = strings_new();
	run->documents = strings_new();
	return run;
}

void
run_ignore_identical(struct run *run)
{
	run->ignore_identical = true;
}

void
run_put(struct run *run, int64_t query, int64_t document, float score)
{
	run->found = mem_grow(
	    run->found, &run->found_room, (size_t)run->count + 1, sizeof *run->found);
	run->found[run->count] =
	    (struct found){ query, run->count, { score, (uint32_t)document } };
	run->count++;
}

static int
by_pair(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->hit.document != y->hit.document)
		return x->hit.document < y->hit.document ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static int64_t
drop_repeated(struct run *run, int64_t *repeated)
{
	int64_t kept = 0, count = run->count;

	qsort(run->found, (size_t)count, sizeof *run->found, by_pair);
	for (int64_t i = 0; i < count; i++) {
		const struct found *next = &run->found[i];
		const struct found *last = kept ? &run->found[kept - 1] : NULL;
		if (last && last->query == next->query &&
		    last->hit.document == next->hit.document) {
			if (repeated)
				*repeated = next->hit.document;
		} else {
			run->found[kept++] = *next;
		}
	}
	run->count = kept;
	return count - kept;
}

/* glibc's qsort_r; ties need the ids. */
static int
by_rank(const void *a, const void *b, void *names)
{
	const struct found *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->hit.score != y->hit.score)
		return x->hit.score > y->hit.score ? -1 : 1;
	return -strings_compare(names, x->hit.document, y->hit.document);
}

int64_t
run_settle(struct run *run, int64_t depth, int64_t *repeated)
{
	int64_t queries = strings_count(run->queries), kept = 0, rank = 0;
	int64_t dropped = drop_repeated(run, repeated);

	qsort_r(
	    run->found, (size_t)run->count, sizeof *run->found, by_rank, run->documents);
	run->starts = mem_zero((size_t)queries + 1, sizeof *run->starts);
	for (int64_t i = 0; i < run->count; i++) {
		int64_t query = run->found[i].query;
		rank = i && run->found[i - 1].query == query ? rank + 1 : 0;
		if (depth && rank >= depth)
			continue;
		run->starts[query + 1]++;
		run->found[kept++] = run->found[i];
	}
	run->count = kept;
	for (int64_t i = 0; i < queries; i++)
		run->starts[i + 1] += run->starts[i];
	return dropped;
}

/* One hit of a query, wherever they are kept. */
static struct hit
hit_at(const struct run *run, const struct hit *searched, int64_t query, int64_t i)
{
	return searched ? searched[i] : run->found[run->starts[query] + i].hit;
}

int64_t
run_hits(struct run *run, int64_t query, const struct hit **hits)
{
	const char *id = strings_get(run->queries, query);
	const struct hit *searched = NULL;
	int64_t count = 0, same = -1;
	int64_t found = run->search ? search_hits(run->search, query, &searched)
				    : run->starts[query + 1] - run->starts[query];

	if (run->ignore_identical)
		same =
		    strings_find(run->documents, id, strings_length(run->queries, query));
	run->kept =
	    mem_grow(run->kept, &run->kept_room, (size_t)found, sizeof *run->kept);
	for (int64_t i = 0; i < found; i++) {
		struct hit hit = hit_at(run, searched, query, i);
		if (hit.document != same)
			run->kept[count++] = hit;
	}
	*hits = run->kept;
	return count;
}

/* Ids that a column cannot hold are refused; those with blanks can be read back, but only here. */
static bool
check_id(const char *path, const struct strings *ids, int64_t number)
{
	const char *id = strings_get(ids, number);
	size_t length = strings_length(ids, number);

	if (length == 0 || strcspn(id, "\t\r\n") != length)
		die("%s: the id '%.100s' is empty or has a tab, an end of line or a NUL "
		    "in it, and there are columns and lines in a run; rename it",
		    path, id);
	return strchr(id, ' ') != NULL;
}

void
run_write(struct run *run, const char *path, int64_t top)
{
	struct output *output = output_open(path, false);
	int64_t blanks = 0;

	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		const struct hit *hits;
		int64_t found = run_hits(run, i, &hits);
		for (int64_t j = 0; j < found && j < top; j++) {
			blanks += check_id(path, run->queries, i) ||
				  check_id(path, run->documents, hits[j].document);
			char *line = mem_format("%s\tQ0\t%s\t%lld\t%.9g\tmotes\n",
			    strings_get(run->queries, i),
			    strings_get(run->documents, hits[j].document),
			    (long long)j + 1, (double)hits[j].score);
			output_write(output, line, strlen(line));
			free(line);
		}
	}
	output_finish(output);
	if (blanks)
		warn("%s: %lld lines have a blank in an id: --from-run reads them by "
		     "their "
		     "tabs, trec_eval does not",
		    path, (long long)blanks);
}

void
run_free(struct run *run)
{
	if (run->search)
		search_free(run->search);
	strings_free(run->queries);
	strings_free(run->documents);
	free(run->vectors);
	free(run->found);
	free(run->starts);
	free(run->kept);
	free(run);
}
