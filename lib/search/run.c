#include "search/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/output.h"
#include "text/datafile.h"
#include "text/tsv.h"

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
run_put(struct findings *findings, int64_t query, int64_t document, float score)
{
	findings->at = mem_grow(findings->at, &findings->room,
	    (size_t)findings->count + 1, sizeof *findings->at);
	findings->at[findings->count] =
	    (struct found){ query, findings->count, { score, (uint32_t)document } };
	findings->count++;
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
drop_repeated(struct findings *findings, int64_t *repeated)
{
	int64_t kept = 0, count = findings->count;

	qsort(findings->at, (size_t)count, sizeof *findings->at, by_pair);
	for (int64_t i = 0; i < count; i++) {
		const struct found *next = &findings->at[i];
		const struct found *last = kept ? &findings->at[kept - 1] : NULL;
		if (last && last->query == next->query &&
		    last->hit.document == next->hit.document) {
			if (repeated)
				*repeated = next->hit.document;
		} else {
			findings->at[kept++] = *next;
		}
	}
	findings->count = kept;
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

static int
by_id(const void *names, uint32_t a, uint32_t b)
{
	return strings_compare(names, a, b);
}

/* Where rows have no names the earlier is first. */
static int
by_place(const void *names, uint32_t a, uint32_t b)
{
	(void)names;
	return (a < b) - (a > b);
}

search_order *
run_order(const struct run *run)
{
	return run->document_ids == ROW_PLACES ? by_place : by_id;
}

/* Tags. ---------------------------------------------------------------------------- */

enum { TAG_ROOM = 128 };

static void
origin_tag(const struct run_origin *origin, char tag[TAG_ROOM])
{
	char threshold[NUMBER_ROOM + 1] = "";

	if (origin->threshold > -INFINITY) {
		threshold[0] = ':';
		number_write(threshold + 1, origin->threshold, true);
	}
	snprintf(tag, TAG_ROOM, "motes:%s:%lld/%lld%s%s%s",
	    similarity_name(origin->similarity), (long long)origin->depth,
	    (long long)origin->documents, origin->candidates ? ":candidates" : "",
	    origin->others ? ":others" : "", threshold);
}

/* The part of a tag up to the next `end`, or all that is left. */
static char *
part(char **left, char end)
{
	char *start = *left, *stop = start ? strchr(start, end) : NULL;

	*left = stop ? stop + 1 : NULL;
	if (stop)
		*stop = 0;
	return start;
}

static bool
whole(const char *text, int64_t *value)
{
	return text && number_read_whole(text, strlen(text), value) && *value > 0;
}

/* Not known when the tag, which is cut to pieces, is none that run_write writes. */
static struct run_origin
read_tag(char *tag)
{
	struct run_origin none = { 0 }, origin = { .threshold = -INFINITY };
	char *left = tag, *next;
	double threshold;

	if (strcmp(part(&left, ':'), "motes") != 0 || !left ||
	    !similarity_parse(part(&left, ':'), &origin.similarity) ||
	    !whole(part(&left, '/'), &origin.depth) ||
	    !whole(part(&left, ':'), &origin.documents))
		return none;
	while ((next = part(&left, ':'))) {
		if (strcmp(next, "candidates") == 0)
			origin.candidates = true;
		else if (strcmp(next, "others") == 0)
			origin.others = true;
		else if (number_read(next, strlen(next), &threshold))
			origin.threshold = (float)threshold;
		else
			return none;
	}
	origin.known = true;
	return origin;
}

/* Reading and writing. ------------------------------------------------------------- */

int64_t
run_settle(struct run *run, struct findings *findings, int64_t depth, int64_t *repeated)
{
	int64_t dropped = drop_repeated(findings, repeated);

	qsort_r(findings->at, (size_t)findings->count, sizeof *findings->at, by_rank,
	    run->documents);
	run->hits = mem_zero((size_t)strings_count(run->queries), sizeof *run->hits);
	run->memory = mem_new((size_t)findings->count, sizeof *run->memory);
	for (int64_t i = 0; i < findings->count; i++) {
		struct hits *hits = &run->hits[findings->at[i].query];
		run->memory[i] = findings->at[i].hit;
		if (hits->count == 0)
			hits->at = run->memory + i;
		if (depth == 0 || hits->count < depth)
			hits->count++;
	}
	free(findings->at);
	*findings = (struct findings){ 0 };
	return dropped;
}

/* A run that is read from a file. */
struct loading {
	struct run *run;
	struct findings findings;
	struct datafile *file;
	char *tag;  /* of the first line */
	bool mixed; /* and another on some other */
};

static void
put(struct loading *loading, const struct tsv_column *query,
    const struct tsv_column *document, float score)
{
	struct run *run = loading->run;
	int64_t number =
	    strings_add(run->documents, document->start, document->length, NULL);

	if (query->length == 0 || document->length == 0)
		datafile_die(loading->file, "an id is empty");
	if (number > UINT32_MAX)
		datafile_die(loading->file, "too many documents");
	run_put(&loading->findings,
	    strings_add(run->queries, query->start, query->length, NULL), number, score);
}

static void
add_line(struct loading *loading, const char *text)
{
	enum { QUERY, ITERATION, DOCUMENT, RANK, SCORE, TAG, COLUMNS };
	struct tsv_column column[COLUMNS];
	const struct tsv_column *tag = &column[TAG];
	double score;
	int count = tsv_cut(text, column, COLUMNS);

	if (count == 0)
		return;
	if (count != COLUMNS)
		datafile_die(loading->file,
		    "expected TREC's six columns: query, Q0, document, rank, score, "
		    "tag");
	if (!number_read(column[SCORE].start, column[SCORE].length, &score))
		datafile_die(
		    loading->file, "the score, column 5, is not a finite number");
	put(loading, &column[QUERY], &column[DOCUMENT], (float)score);
	if (!loading->tag)
		loading->tag = mem_format("%.*s", (int)tag->length, tag->start);
	loading->mixed |= strncmp(loading->tag, tag->start, tag->length) != 0 ||
			  loading->tag[tag->length] != 0;
}

static void
add_object(struct loading *loading, const struct tree *record)
{
	const char *query = tree_string(record, "query-id", NULL);
	const struct tree *documents = tree_get(record, "corpus-ids");

	if (!query || !documents || documents->kind != TREE_LIST)
		datafile_die(loading->file,
		    "expected a string 'query-id' and a list 'corpus-ids'");
	for (size_t i = 0; i < documents->count; i++) {
		const struct tree *document = documents->items[i];
		if (document->kind != TREE_STRING)
			datafile_die(
			    loading->file, "an id in 'corpus-ids' is not a string");
		put(loading, &(struct tsv_column){ query, strlen(query) },
		    &(struct tsv_column){ document->string, document->length }, 0);
	}
}

static struct run *
read_file(struct input *input, bool objects)
{
	enum datafile_format format = objects ? DATAFILE_JSONL : DATAFILE_LINES;
	struct loading loading = { .run = run_new(),
		.file = datafile_open_input(input, format) };
	struct run *run = loading.run;
	const struct tree *record;
	int64_t repeated = 0;

	while ((record = datafile_next(loading.file))) {
		if (objects)
			add_object(&loading, record);
		else
			add_line(&loading, tree_string(record, "text", ""));
	}
	if (loading.findings.count == 0)
		die("%s: there is nothing in it", datafile_name(loading.file));
	int64_t dropped = run_settle(run, &loading.findings, 0, &repeated);
	if (dropped)
		warn(
		    "%s: %lld lines repeat a query and a document: the first one counts; "
		    "one is of '%s'",
		    datafile_name(loading.file), (long long)dropped,
		    strings_get(run->documents, repeated));
	if (loading.tag && !loading.mixed)
		run->origin = read_tag(loading.tag);
	free(loading.tag);
	datafile_close(loading.file);
	return run;
}

struct run *
run_read_input(struct input *input)
{
	return read_file(input, false);
}

struct run *
run_read(const char *path)
{
	return run_read_input(input_open(path));
}

struct run *
run_read_candidates(const char *path)
{
	struct input *input = input_open(path);

	return read_file(input, input_starts_with(input, "{"));
}

void
run_ignore_identical(struct run *run)
{
	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		struct hits *hits = &run->hits[i];
		int64_t same = strings_find(run->documents, strings_get(run->queries, i),
		    strings_length(run->queries, i));
		int64_t kept = 0;
		for (int64_t j = 0; j < hits->count; j++)
			if (hits->at[j].document != same)
				hits->at[kept++] = hits->at[j];
		hits->count = kept;
	}
	run->origin.others = true;
}

/* Those with blanks can be read back, but only here. */
static bool
check_id(const char *path, const struct strings *ids, int64_t number)
{
	const char *id = strings_get(ids, number);

	tsv_check_id(path, id, strings_length(ids, number), "a run");
	return strchr(id, ' ') != NULL;
}

/* The lines of a query; returns how many have a blank in an id. */
static int64_t
write_query(const struct run *run, const char *path, int64_t query, int64_t top,
    const char *tag, struct buffer *lines)
{
	const struct hits *hits = &run->hits[query];
	const char *id = strings_get(run->queries, query);
	bool blank = hits->count && check_id(path, run->queries, query);
	int64_t blanks = 0;

	for (int64_t i = 0; i < hits->count && i < top; i++) {
		char rest[64 + TAG_ROOM];
		int64_t document = hits->at[i].document;
		const char *name = strings_get(run->documents, document);
		blanks += check_id(path, run->documents, document) || blank;
		buffer_add(lines, id, strlen(id));
		buffer_add(lines, "\tQ0\t", 4);
		buffer_add(lines, name, strlen(name));
		buffer_add(lines, rest,
		    (size_t)snprintf(rest, sizeof rest, "\t%lld\t%.9g\t%s\n",
			(long long)i + 1, (double)hits->at[i].score, tag));
	}
	return blanks;
}

void
run_write(const struct run *run, struct output *output, int64_t top)
{
	enum { AT_ONCE = 64 };
	const char *path = output_name(output);
	struct run_origin origin = run->origin;
	struct buffer lines[AT_ONCE] = { { .used = 0 } };
	char tag[TAG_ROOM] = "motes";
	int64_t blanks = 0, count = strings_count(run->queries);

	if (origin.depth > top)
		origin.depth = top;
	if (origin.known)
		origin_tag(&origin, tag);
	for (int64_t first = 0; first < count; first += AT_ONCE) {
		int64_t some = count - first < AT_ONCE ? count - first : AT_ONCE;
#pragma omp parallel for schedule(dynamic) reduction(+ : blanks)
		for (int64_t i = 0; i < some; i++)
			blanks += write_query(run, path, first + i, top, tag, &lines[i]);
		for (int64_t i = 0; i < some; i++) {
			if (lines[i].used)
				output_write(output, lines[i].data, lines[i].used);
			lines[i].used = 0;
		}
	}
	for (int i = 0; i < AT_ONCE; i++)
		free(lines[i].data);
	if (blanks)
		warn("%s: %lld lines have a blank in an id: --from-run reads them by "
		     "their tabs, trec_eval does not",
		    path, (long long)blanks);
}

void
run_free(struct run *run)
{
	strings_free(run->queries);
	strings_free(run->documents);
	free(run->field);
	texts_free(&run->query_texts);
	texts_free(&run->document_texts);
	free(run->hits);
	free(run->memory);
	free(run);
}
