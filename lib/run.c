#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "fields.h"
#include "mem.h"
#include "output.h"
#include "tally.h"
#include "textrec.h"

void
run_ignore_identical(struct run *run)
{
	run->ignore_identical = true;
}

int64_t
run_hits(struct run *run, int64_t query, const struct hit **hits)
{
	const struct hit *all;
	int64_t count = 0, found;

	if (run->search) {
		found = search_hits(run->search, query, &all);
	} else {
		all = run->hits + run->starts[query];
		found = run->starts[query + 1] - run->starts[query];
	}
	run->kept = mem_grow(run->kept, &run->room, (size_t)found, sizeof *run->kept);
	const char *id = names_get(run->queries, query);
	int64_t same = run->ignore_identical ? names_find(run->documents, id,
						   names_length(run->queries, query))
					     : -1;
	for (int64_t i = 0; i < found; i++)
		if (all[i].document != same)
			run->kept[count++] = all[i];
	*hits = run->kept;
	return count;
}

void
run_write(struct run *run, const char *path, int64_t top)
{
	struct output *output = output_open(path, false);

	for (int64_t i = 0; i < names_count(run->queries); i++) {
		const struct hit *hits;
		int64_t found = run_hits(run, i, &hits);
		for (int64_t j = 0; j < found && j < top; j++) {
			char *line = mem_format("%s\tQ0\t%s\t%lld\t%.9g\tmotes\n",
			    names_get(run->queries, i),
			    names_get(run->documents, hits[j].document), (long long)j + 1,
			    (double)hits[j].score);
			output_write(output, line, strlen(line));
			free(line);
		}
	}
	output_finish(output);
}

struct line {
	int64_t query, number;
	struct hit hit;
};

struct loading {
	struct run *run;
	struct textrec *file;
	struct line *lines;
	size_t room;
	int64_t count;
	struct tally repeated;
};

static _Noreturn void
bad(const struct loading *loading, const char *what)
{
	die("%s:%lld: %s", textrec_name(loading->file),
	    (long long)textrec_line(loading->file), what);
}

static void
add_line(struct loading *loading, const char *text)
{
	enum { QUERY, ITERATION, DOCUMENT, RANK, SCORE, TAG, COLUMNS };
	struct field_text field[COLUMNS];
	struct run *run = loading->run;
	double score;
	int count = fields_cut(text, field, COLUMNS);

	if (count == 0)
		return;
	if (count != COLUMNS)
		bad(loading, "expected TREC's six columns: query, Q0, document, rank, "
			     "score, tag");
	if (!fields_number(&field[SCORE], &score) || !isfinite(score))
		bad(loading, "the score, column 5, is not a finite number");
	int64_t document = names_add(
	    run->documents, field[DOCUMENT].start, field[DOCUMENT].length, NULL);
	if (document > UINT32_MAX)
		bad(loading, "too many documents");
	loading->lines = mem_grow(loading->lines, &loading->room,
	    (size_t)loading->count + 1, sizeof *loading->lines);
	loading->lines[loading->count] = (struct line){
		names_add(run->queries, field[QUERY].start, field[QUERY].length, NULL),
		loading->count, { (float)score, (uint32_t)document }
	};
	loading->count++;
}

static int
by_pair(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->hit.document != y->hit.document)
		return x->hit.document < y->hit.document ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Of lines with the same query and document the first stays. */
static void
drop_repeated(struct loading *loading)
{
	const struct names *documents = loading->run->documents;
	int64_t kept = 0;

	qsort(loading->lines, (size_t)loading->count, sizeof *loading->lines, by_pair);
	for (int64_t i = 0; i < loading->count; i++) {
		const struct line *line = &loading->lines[i];
		const struct line *last = kept ? &loading->lines[kept - 1] : NULL;
		int64_t document = line->hit.document;
		if (last && last->query == line->query && last->hit.document == document)
			tally_note(&loading->repeated, names_get(documents, document),
			    names_length(documents, document));
		else
			loading->lines[kept++] = *line;
	}
	loading->count = kept;
}

/* glibc's qsort_r; ties need the ids. */
static int
by_rank(const void *a, const void *b, void *names)
{
	const struct line *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	if (x->hit.score != y->hit.score)
		return x->hit.score > y->hit.score ? -1 : 1;
	return -names_compare(names, x->hit.document, y->hit.document);
}

static void
keep_hits(struct loading *loading)
{
	struct run *run = loading->run;
	int64_t queries = names_count(run->queries);

	qsort_r(loading->lines, (size_t)loading->count, sizeof *loading->lines, by_rank,
	    run->documents);
	run->hits = mem_new((size_t)loading->count, sizeof *run->hits);
	run->starts = mem_zero((size_t)queries + 1, sizeof *run->starts);
	for (int64_t i = 0; i < loading->count; i++) {
		run->hits[i] = loading->lines[i].hit;
		run->starts[loading->lines[i].query + 1] = i + 1;
	}
	run->found = loading->count;
}

struct run *
run_read(const char *path)
{
	struct loading loading = { mem_zero(1, sizeof(struct run)),
		textrec_open(path, TEXTREC_LINES), NULL, 0, 0, { 0, NULL } };
	struct run *run = loading.run;
	const struct tree *record;

	run->from_file = true;
	run->queries = names_new();
	run->documents = names_new();
	while ((record = textrec_next(loading.file)))
		add_line(&loading, tree_string(record, "text", ""));
	if (loading.count == 0)
		die("%s: there is nothing in it", path);
	drop_repeated(&loading);
	keep_hits(&loading);
	tally_tell(&loading.repeated, textrec_name(loading.file),
	    "lines repeat a query and a document: the first one counts");
	textrec_close(loading.file);
	free(loading.lines);
	return run;
}

void
run_free(struct run *run)
{
	if (run->search)
		search_free(run->search);
	names_free(run->queries);
	names_free(run->documents);
	free(run->vectors);
	free(run->hits);
	free(run->starts);
	free(run->kept);
	free(run);
}
