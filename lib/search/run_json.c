#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "search/run.h"
#include "text/datafile.h"

struct json_run {
	struct run *run;
	struct findings findings;
	struct datafile *file;
};

/* Adds the object's "id" to `ids` and returns its number; all ids must be of one *kind. */
static int64_t
add_id(struct json_run *reading, struct strings *ids, enum row_ids *kind,
    const struct tree *object, bool *fresh)
{
	const struct tree *id = tree_get(object, "id");
	char digits[NUMBER_ROOM];

	if (!id || (id->kind != TREE_STRING && id->kind != TREE_INTEGER))
		datafile_die(reading->file,
		    "expected what near --json writes: a query's 'id', and 'hits' with an 'id' each");
	enum row_ids own = id->kind == TREE_STRING ? ROW_NAMES : ROW_NUMBERS;
	if (strings_count(ids) && own != *kind)
		datafile_die(reading->file, "some ids are numbers, others text");
	*kind = own;
	if (own == ROW_NAMES)
		return strings_add(ids, id->string, id->length, fresh);
	return strings_add(ids, digits, number_put_whole(digits, id->integer), fresh);
}

static void
add_text(struct row_texts *texts, int64_t number, const struct tree *object)
{
	const struct tree *text = tree_get(object, "text");

	if (text && text->kind == TREE_STRING)
		row_texts_put(texts, number, text->string, text->length);
}

static void
add_hit(struct json_run *reading, int64_t query, const struct tree *hit)
{
	struct run *run = reading->run;
	int64_t document = add_id(reading, run->documents, &run->document_ids, hit, NULL);
	const struct tree *score = tree_get(hit, "score");

	if (!score || (score->kind != TREE_REAL && score->kind != TREE_INTEGER))
		datafile_die(reading->file, "a hit has no score that is a number");
	if (document > UINT32_MAX)
		datafile_die(reading->file, "too many documents");
	add_text(&run->document_texts, document, hit);
	run_put(&reading->findings, query, document, (float)score->real);
}

struct run *
run_read_json(struct input *input)
{
	struct json_run reading = { .run = run_new(),
		.file = datafile_open_input(input, DATAFILE_JSONL) };
	struct run *run = reading.run;
	const struct tree *record;
	bool fresh;

	while ((record = datafile_next(reading.file))) {
		const struct tree *hits = tree_get(record, "hits");
		int64_t query =
		    add_id(&reading, run->queries, &run->query_ids, record, &fresh);
		if (!fresh)
			datafile_die(
			    reading.file, "a query is there for the second time");
		if (!hits || hits->kind != TREE_LIST)
			datafile_die(reading.file, "there is no list 'hits'");
		add_text(&run->query_texts, query, record);
		for (size_t i = 0; i < hits->count; i++)
			add_hit(&reading, query, hits->items[i]);
	}
	if (run_commit(run, &reading.findings, 0, NULL))
		die("%s: a query has a document twice", datafile_name(reading.file));
	datafile_warn_repaired(reading.file);
	datafile_close(reading.file);
	return run;
}
