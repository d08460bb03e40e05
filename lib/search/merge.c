#include "search/merge.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

static struct run *
read_run(const char *path, bool first, bool *json)
{
	struct input *input = input_open(path);
	bool objects = input_starts_with(input, "{");
	char byte;

	if (!input_peek(input, &byte, 1))
		die("%s: there is nothing in it; leave out the run of a part in which nothing was found",
		    input_name(input));
	if (first)
		*json = objects;
	if (objects != *json)
		die("%s: it is %s; runs that are merged are all of one kind",
		    input_name(input),
		    objects ? "lines of JSON, and not columns of TREC as those before it"
			    : "no lines of JSON, as those before it are");
	struct run *run = objects ? run_read_json(input) : run_read_input(input);
	run_check_finite(run, path);
	return run;
}

/* Whether a query may be without hits. */
static bool
is_sparse(const struct run_origin *origin)
{
	return origin->known &&
	       (origin->threshold > -INFINITY || origin->candidates || origin->others);
}

/* Dies on a query of one run that the other lacks. */
static void
check_queries(const struct run *one, const char *path, const struct run *other,
    const char *other_path)
{
	for (int64_t i = 0; i < strings_count(one->queries); i++) {
		const char *id = strings_get(one->queries, i);
		const struct row_text *text = row_texts_get(&one->query_texts, i), *same;
		int64_t number = strings_find_from(other->queries, one->queries, i);
		if (number < 0)
			die("%s: it lacks the query '%s', which %s has; runs that are merged are of the same queries",
			    other_path, id, path);
		same = row_texts_get(&other->query_texts, number);
		if (text && same &&
		    (text->length != same->length ||
			memcmp(text->bytes, same->bytes, text->length) != 0))
			die("%s: its query '%s' has another text than that of %s",
			    other_path, id, path);
	}
}

static void
check_origin(const struct run_origin *one, const char *path,
    const struct run_origin *next, const char *next_path)
{
	if (one->known != next->known || one->similarity != next->similarity ||
	    one->candidates != next->candidates || one->others != next->others ||
	    (one->known && one->threshold != next->threshold))
		die("%s: its tag names other settings of the search than %s (--similarity, --threshold, --exclude-self)",
		    next_path, path);
}

static void
check_documents(const struct run *all, const struct run *next, const char *path)
{
	if (strings_count(all->documents) && strings_count(next->documents) &&
	    all->document_ids != next->document_ids)
		die("%s: its documents' ids are %s, unlike those of the runs before it",
		    path, next->document_ids == ROW_NAMES ? "text" : "numbers");
	for (int64_t i = 0; i < strings_count(next->documents); i++)
		if (strings_find_from(all->documents, next->documents, i) >= 0)
			die("%s: its document '%s' is also in a run before it; shards must not share rows, and rows without ids are numbered from 1 in each",
			    path, strings_get(next->documents, i));
}

/* Dies if the run's depth is below the depth asked for, or, if none is asked for, differs from the first run's. */
static void
check_depth(int64_t asked, const struct run_origin *one, const char *path,
    const struct run_origin *next, const char *next_path)
{
	if (!next->known)
		return;
	if (asked > next->depth)
		die("%s: by its tag it has the best %lld documents of each query, and not %lld (-k)",
		    next_path, (long long)next->depth, (long long)asked);
	if (!asked && next->depth != one->depth)
		die("%s: by its tag it has the best %lld documents of each query, and %s the best %lld; -k %lld takes what both have",
		    next_path, (long long)next->depth, path, (long long)one->depth,
		    (long long)(next->depth < one->depth ? next->depth : one->depth));
}

static void
take(struct run *to, struct findings *findings, const struct run *from)
{
	for (int64_t i = 0; i < strings_count(from->queries); i++) {
		const struct row_text *text = row_texts_get(&from->query_texts, i);
		int64_t query = strings_add_from(to->queries, from->queries, i);
		if (text)
			row_texts_put(&to->query_texts, query, text->bytes, text->length);
		for (int64_t j = 0; j < from->hits[i].count; j++) {
			struct hit hit = from->hits[i].at[j];
			int64_t document = strings_add_from(
			    to->documents, from->documents, hit.document);
			text = row_texts_get(&from->document_texts, hit.document);
			if (text)
				row_texts_put(&to->document_texts, document, text->bytes,
				    text->length);
			run_put(findings, query, document, hit.score);
		}
	}
}

/* Merges two runs, keeping the best `depth` (0: all), and frees them. */
static struct run *
combine(struct run *all, struct run *next, int64_t depth)
{
	struct run *made = run_new();
	struct findings findings = { 0 };

	take(made, &findings, all);
	take(made, &findings, next);
	made->query_ids = next->query_ids;
	made->document_ids =
	    strings_count(next->documents) ? next->document_ids : all->document_ids;
	made->origin = next->origin;
	made->origin.documents += all->origin.documents;
	if (depth)
		made->origin.depth = depth;
	run_commit(made, &findings, depth, NULL);
	run_free(all);
	run_free(next);
	return made;
}

/* The length of the longest list of hits, at least `most`. */
static int64_t
longest(const struct run *run, int64_t most)
{
	for (int64_t i = 0; i < strings_count(run->queries); i++)
		if (run->hits[i].count > most)
			most = run->hits[i].count;
	return most;
}

static const char *
name_of(const char *path)
{
	return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

struct run *
merge_runs(const char *const *paths, int count, int64_t depth, bool *json)
{
	const char *first_name = name_of(paths[0]);
	struct run *all = run_new();
	struct run_origin first = { 0 };
	int64_t most = 0;

	for (int i = 0; i < count; i++) {
		const char *name = name_of(paths[i]);
		struct run *next = read_run(paths[i], !i, json);
		first = i ? first : next->origin;
		check_origin(&first, first_name, &next->origin, name);
		check_depth(depth, &first, first_name, &next->origin, name);
		if (i && !is_sparse(&first)) {
			check_queries(all, first_name, next, name);
			check_queries(next, name, all, first_name);
		}
		check_documents(all, next, name);
		most = longest(next, most);
		all = combine(all, next, depth || !first.known ? depth : first.depth);
	}
	if (!depth && !first.known)
		run_cut(all, most);
	return all;
}
