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
#include "text/triples.h"
#include "text/tsv.h"

struct finding {
	int64_t query, place; /* place: order of run_put */
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
	    (struct finding){ query, findings->count, { score, (uint32_t)document } };
	findings->count++;
}

static int
by_pair(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

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
		const struct finding *next = &findings->at[i];
		const struct finding *last = kept ? &findings->at[kept - 1] : NULL;
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

/* For glibc's qsort_r; `names` break ties. */
static int
by_rank(const void *a, const void *b, void *names)
{
	const struct finding *x = a, *y = b;

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

search_order *
run_order(const struct run *run)
{
	return run->document_ids == ROW_PLACES ? NULL : by_id;
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

/* Cuts off and returns the part of a tag up to the next `end`, or the rest. */
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

/* Parses a tag, which is cut to pieces.  Returns known = false unless run_write wrote it. */
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
run_commit(struct run *run, struct findings *findings, int64_t depth, int64_t *repeated)
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

/* A run being read from a file. */
struct run_loader {
	struct run *run;
	struct findings findings;
	char *tag;   /* of the first line */
	bool mixed;  /* lines have different tags */
	bool ranked; /* scores are 1 / rank */
};

static const char *
put(void *context, const struct triple *triple)
{
	struct run_loader *loader = context;
	const struct tsv_column *document = &triple->document, *query = &triple->query,
				*tag = triple->tag;
	int64_t number =
	    strings_add(loader->run->documents, document->start, document->length, NULL);

	if (number > UINT32_MAX)
		return "too many documents";
	run_put(&loader->findings,
	    strings_add(loader->run->queries, query->start, query->length, NULL), number,
	    (float)triple->number);
	if (!tag)
		return NULL;
	if (!loader->tag)
		loader->tag = mem_format("%.*s", (int)tag->length, tag->start);
	loader->mixed |= strncmp(loader->tag, tag->start, tag->length) != 0 ||
			 loader->tag[tag->length] != 0;
	return NULL;
}

/* TREC's six columns; or MS MARCO's query, document, rank, with the score 1 / rank. */
static const char *
place(void *context, const struct tsv_column *columns, int count, struct triple *triple)
{
	struct run_loader *loader = context;
	enum { QUERY, ITERATION, DOCUMENT, RANK, SCORE, TAG, COLUMNS };
	const struct tsv_column *last = &columns[2];
	int64_t rank;

	triple->query = columns[QUERY];
	if (count == 3) {
		triple->document = columns[1];
		if (!number_read_whole(last->start, last->length, &rank) || rank < 1)
			return "of three columns, MS MARCO's query, document and rank, the third is not a rank from 1 on";
		loader->ranked = true;
		triple->number = 1 / (double)rank;
		return NULL;
	}
	if (count != COLUMNS)
		return "expected TREC's six columns: query, Q0, document, rank, score, tag";
	triple->document = columns[DOCUMENT];
	triple->tag = &columns[TAG];
	return number_read(columns[SCORE].start, columns[SCORE].length, &triple->number)
		   ? NULL
		   : "the score, column 5, is not a finite number";
}

/* Dies unless the ranks of each query are distinct and begin with 1: other files of three columns are not runs. */
static void
check_ranks(const struct run *run, const char *name)
{
	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		const struct hits *hits = &run->hits[i];
		float before = 2;
		for (int64_t j = 0; j < hits->count; before = hits->at[j++].score)
			if (hits->at[j].score == before || (!j && hits->at[j].score < 1))
				die("%s: query '%.60s' has %s; the third of three columns is MS MARCO's rank, unless a header line (query-id, corpus-id, score) says otherwise",
				    name, strings_get(run->queries, i),
				    j ? "two documents of one rank"
				      : "no document of rank 1");
	}
}

static struct run *
finish(struct run_loader *loader, const char *name)
{
	struct run *run = loader->run;
	int64_t repeated = 0;

	if (loader->findings.count == 0)
		die("%s: there is nothing in it", name);
	int64_t dropped = run_commit(run, &loader->findings, 0, &repeated);
	if (dropped)
		warn(
		    "%s: %lld lines repeat a query and a document: the first one counts; one is of '%s'",
		    name, (long long)dropped, strings_get(run->documents, repeated));
	if (loader->ranked)
		check_ranks(run, name);
	if (loader->tag && !loader->mixed)
		run->origin = read_tag(loader->tag);
	free(loader->tag);
	return run;
}

struct run *
run_read_input(struct input *input)
{
	static const char *const scores[] = { "score", "similarity", NULL };
	struct run_loader loader = { .run = run_new() };
	struct triples triples = { "score", scores, false, place, put, &loader };
	char *name = mem_string(input_name(input));

	if (input_starts_with(input, "{\"id\":")) {
		free(name);
		run_free(loader.run);
		return run_read_json(input);
	}
	triples_read(&triples, input);
	struct run *run = finish(&loader, name);
	free(name);
	return run;
}

void
run_check_finite(const struct run *run, const char *path)
{
	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		const struct hits *hits = &run->hits[i];
		for (int64_t j = 0; j < hits->count; j++)
			if (!isfinite(hits->at[j].score))
				die("%s: query '%.60s', document '%.60s': its score exceeds float32; scale the scores",
				    path, strings_get(run->queries, i),
				    strings_get(run->documents, hits->at[j].document));
	}
}

struct run *
run_read(const char *path)
{
	return run_read_input(input_open(path));
}

static void
add_candidates(
    struct run_loader *loader, const struct datafile *file, const struct tree *record)
{
	char room[2][TRIPLES_ID_ROOM];
	const struct tree *query = tree_get(record, "query-id"),
			  *documents = tree_get(record, "corpus-ids");
	struct triple triple = { .number = 0 };

	if (!query || !triples_id(query, room[0], &triple.query) || !documents ||
	    documents->kind != TREE_LIST)
		datafile_die(
		    file, "expected a string 'query-id' and a list 'corpus-ids'");
	for (size_t i = 0; i < documents->count; i++) {
		if (!triples_id(documents->items[i], room[1], &triple.document))
			datafile_die(file, "an id in 'corpus-ids' is not a string");
		if (!triple.query.length || !triple.document.length)
			datafile_die(file, "an id is empty");
		const char *fault = put(loader, &triple);
		if (fault)
			datafile_die(file, fault);
	}
}

/* Whether the input is mteb's objects with lists of documents, not a run in JSON. */
static bool
are_lists(struct input *input)
{
	enum { PEEK = 4096 };
	char text[PEEK + 1];

	if ((!input_starts_with(input, "{") && !input_starts_with(input, "[")) ||
	    input_starts_with(input, "{\"id\":") || triples_nested(input))
		return false;
	text[input_peek(input, text, PEEK)] = 0;
	return !strstr(text, "\"corpus-id\"");
}

struct run *
run_read_candidates(const char *path)
{
	struct input *input = input_open(path);
	struct run_loader loader = { .run = run_new() };
	const struct tree *record;

	if (!are_lists(input)) {
		run_free(loader.run);
		return run_read_input(input);
	}
	struct datafile *file = datafile_open_input(input, DATAFILE_JSONL);
	while ((record = datafile_next(file)))
		add_candidates(&loader, file, record);
	datafile_warn_repaired(file);
	datafile_close(file);
	return finish(&loader, path);
}

int64_t
run_cut(struct run *run, int64_t depth)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		if (run->hits[i].count > depth)
			run->hits[i].count = depth;
		kept += run->hits[i].count;
	}
	return kept;
}

void
run_ignore_identical(struct run *run)
{
	for (int64_t i = 0; i < strings_count(run->queries); i++) {
		struct hits *hits = &run->hits[i];
		int64_t same = strings_find_from(run->documents, run->queries, i);
		int64_t kept = 0;
		for (int64_t j = 0; j < hits->count; j++)
			if (hits->at[j].document != same)
				hits->at[kept++] = hits->at[j];
		hits->count = kept;
	}
	run->origin.others = true;
}

/* Dies on a tab or line end; returns whether the id has a blank. */
static bool
check_id(const char *path, const struct strings *ids, int64_t number)
{
	const char *id = strings_get(ids, number);

	tsv_check_name(path, "id", id, strings_length(ids, number), "a run");
	return strchr(id, ' ') != NULL;
}

/* Formats the lines of a query; returns how many have a blank in an id. */
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
		warn(
		    "%s: %lld lines have a blank in an id: --from-run reads them by their tabs, trec_eval does not",
		    path, (long long)blanks);
}

void
run_free(struct run *run)
{
	strings_free(run->queries);
	strings_free(run->documents);
	free(run->field);
	row_texts_free(&run->query_texts);
	row_texts_free(&run->document_texts);
	free(run->hits);
	free(run->memory);
	free(run);
}
