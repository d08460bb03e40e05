#include <string.h>

#include "base/err.h"
#include "base/input.h"
#include "base/number.h"
#include "score/run.h"
#include "text/datafile.h"
#include "text/tsv.h"

static _Noreturn void
bad(const struct datafile *file, const char *what)
{
	die("%s:%lld: %s", datafile_name(file), (long long)datafile_line(file), what);
}

static void
put(struct run *run, const struct datafile *file, const struct tsv_column *query,
    const struct tsv_column *document, float score)
{
	int64_t number =
	    strings_add(run->documents, document->start, document->length, NULL);

	if (query->length == 0 || document->length == 0)
		bad(file, "an id is empty");
	if (number > UINT32_MAX)
		bad(file, "too many documents");
	run_put(run, strings_add(run->queries, query->start, query->length, NULL), number,
	    score);
}

static void
add_line(struct run *run, const struct datafile *file, const char *text)
{
	enum { QUERY, ITERATION, DOCUMENT, RANK, SCORE, TAG, COLUMNS };
	struct tsv_column column[COLUMNS];
	double score;
	int count = tsv_cut(text, column, COLUMNS);

	if (count == 0)
		return;
	if (count != COLUMNS)
		bad(file,
		    "expected TREC's six columns: query, Q0, document, rank, score, "
		    "tag");
	if (!number_read(column[SCORE].start, column[SCORE].length, &score))
		bad(file, "the score, column 5, is not a finite number");
	put(run, file, &column[QUERY], &column[DOCUMENT], (float)score);
}

static void
add_object(struct run *run, const struct datafile *file, const struct tree *record)
{
	const char *query = tree_string(record, "query-id", NULL);
	const struct tree *documents = tree_get(record, "corpus-ids");

	if (!query || !documents || documents->kind != TREE_LIST)
		bad(file, "expected a string 'query-id' and a list 'corpus-ids'");
	for (size_t i = 0; i < documents->count; i++) {
		const struct tree *document = documents->items[i];
		if (document->kind != TREE_STRING)
			bad(file, "an id in 'corpus-ids' is not a string");
		put(run, file, &(struct tsv_column){ query, strlen(query) },
		    &(struct tsv_column){ document->string, document->length }, 0);
	}
}

static struct run *
read_file(struct input *input, bool objects)
{
	enum datafile_format format = objects ? DATAFILE_JSONL : DATAFILE_LINES;
	struct datafile *file = datafile_open_input(input, format);
	struct run *run = run_new();
	const struct tree *record;
	int64_t repeated = 0;

	run->from_file = true;
	while ((record = datafile_next(file))) {
		if (objects)
			add_object(run, file, record);
		else
			add_line(run, file, tree_string(record, "text", ""));
	}
	if (run->count == 0)
		die("%s: there is nothing in it", datafile_name(file));
	int64_t dropped = run_settle(run, 0, &repeated);
	if (dropped)
		warn(
		    "%s: %lld lines repeat a query and a document: the first one counts; "
		    "one is of '%s'",
		    datafile_name(file), (long long)dropped,
		    strings_get(run->documents, repeated));
	datafile_close(file);
	return run;
}

struct run *
run_read(const char *path)
{
	return read_file(input_open(path), false);
}

struct run *
run_read_candidates(const char *path)
{
	struct input *input = input_open(path);

	return read_file(input, input_starts_with(input, "{"));
}
