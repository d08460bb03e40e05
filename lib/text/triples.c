#include "text/triples.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/datafile.h"
#include "text/json.h"
#include "text/json_string.h"

struct triples_reader {
	const struct triples *triples;
	struct datafile *file;
	struct tree *names; /* of columns; NULL: no header */
	bool tabs;	    /* columns are separated by tabs */
	bool begun;
};

/* In order of preference. */
static const char *const queries[] = { "queryid", "qid", "topicid", "topic", "query",
	NULL };
static const char *const documents[] = { "corpusid", "docid", "documentid", "docno",
	"did", "pid", "passageid", "document", "doc", "passage", NULL };

_Noreturn static void
fail(const struct triples_reader *reading, const char *format, const char *word)
{
	char *what = mem_format(format, word);

	datafile_die(reading->file, what);
}

/* Names. --------------------------------------------------------------------------- */

/* Whether a name equals `plain` ignoring case and punctuation: Query-ID, query_id. */
static bool
is_called(const char *name, const char *plain)
{
	for (; *name; name++) {
		if (*name == '-' || *name == '_' || *name == ' ' || *name == '"')
			continue;
		if (tolower((unsigned char)*name) != *plain++)
			return false;
	}
	return !*plain;
}

static const struct tree *
find(const struct tree *record, const char *const *plain)
{
	for (; *plain; plain++)
		for (size_t i = 0; i < record->count; i++)
			if (is_called(record->items[i]->key, *plain)) {
				tree_once(record->items[i]);
				return record->items[i];
			}
	return NULL;
}

static bool
is_among(const struct tree *names, const char *const *plain)
{
	for (; *plain; plain++)
		for (size_t i = 0; i < names->count; i++)
			if (is_called(names->items[i]->string, *plain))
				return true;
	return false;
}

/* Records. ------------------------------------------------------------------------- */

bool
triples_id(const struct tree *value, char room[TRIPLES_ID_ROOM], struct tsv_column *id)
{
	if (value->kind == TREE_STRING || (value->kind == TREE_REAL && value->string))
		*id = (struct tsv_column){ value->string, value->length };
	else if (value->kind == TREE_INTEGER)
		*id = (struct tsv_column){ room, number_put_whole(room, value->integer) };
	else /* 3.0, true and null are not ids */
		return false;
	return true;
}

bool
triples_record_id(
    const struct tree *record, char room[TRIPLES_ID_ROOM], struct tsv_column *id)
{
	const struct tree *value = tree_get(record, "_id");

	if (!value)
		value = tree_get(record, "id");
	return value && triples_id(value, room, id);
}

/* Hands a triple to the caller; returns NULL, or an error message. */
static const char *
hand_over(const struct triples *triples, const struct triple *triple)
{
	const char *fault = triples->put(triples->context, triple);

	return triple->query.length && triple->document.length ? fault : "an id is empty";
}

static void
put(const struct triples_reader *reading, const struct triple *triple)
{
	const char *fault = hand_over(reading->triples, triple);

	if (fault)
		datafile_die(reading->file, fault);
}

static bool
read_number(const struct tree *value, bool untyped, double *number)
{
	*number = value->real;
	if (value->kind == TREE_STRING && untyped)
		return number_read(value->string, value->length, number);
	return (value->kind == TREE_INTEGER || value->kind == TREE_REAL) &&
	       isfinite(*number);
}

static void
put_object(const struct triples_reader *reading, const struct tree *record, bool untyped)
{
	const char *const *names[3] = { queries, documents, reading->triples->numbers };
	static const char *const usual[] = { "query-id", "corpus-id", "score" };
	const struct tree *found[3];
	char room[2][TRIPLES_ID_ROOM];
	struct triple triple = { .number = 0 };

	for (int i = 0; i < 3; i++)
		if (!(found[i] = find(record, names[i])) || found[i]->kind == TREE_NULL)
			fail(reading, "there is no member '%s'", usual[i]);
	if (!triples_id(found[0], room[0], &triple.query) ||
	    !triples_id(found[1], room[1], &triple.document))
		datafile_die(reading->file, "an id is neither text nor a whole number");
	if (!read_number(found[2], untyped, &triple.number))
		fail(reading, "the %s is not a number", reading->triples->number);
	put(reading, &triple);
}

/* Lines. --------------------------------------------------------------------------- */

static struct tree *
values_of_line(const char *text)
{
	struct tsv_column column[TRIPLES_COLUMNS];
	int count = tsv_cut(text, column, TRIPLES_COLUMNS);
	struct tree *values = tree_list();

	for (int i = 0; i < count && i < TRIPLES_COLUMNS; i++)
		tree_add(values, tree_of_bytes(column[i].start, column[i].length));
	return values;
}

/* Whether the first line is a header; stores its names. */
static bool
is_names(struct triples_reader *reading, const struct tree *text)
{
	const char *name = datafile_name(reading->file);
	int64_t line = datafile_line(reading->file);
	struct tree *names = values_of_line(text->string);
	bool quoted, are = is_among(names, queries) && is_among(names, documents) &&
			   is_among(names, reading->triples->numbers);

	reading->tabs = strchr(text->string, '\t') != NULL;
	if (are && !reading->tabs) {
		reading->names = tsv_names_of(names, name, line);
		return true;
	}
	tree_free(names);
	if (are)
		reading->names =
		    tsv_names(text->string, text->length, name, line, &quoted);
	return are;
}

static void
put_row(const struct triples_reader *reading, const struct tree *text)
{
	const char *name = datafile_name(reading->file);
	int64_t line = datafile_line(reading->file);
	struct tree *row =
	    reading->tabs
		? tsv_row(reading->names, reading->triples->quotes, text->string,
		      text->length, name, line)
		: tsv_row_of(reading->names, values_of_line(text->string), name, line);

	put_object(reading, row, true);
	tree_free(row);
}

static void
put_line(struct triples_reader *reading, struct tree *text)
{
	const struct triples *triples = reading->triples;
	struct tsv_column column[TRIPLES_COLUMNS];
	struct triple triple = { .number = 0 };

	int count = tsv_cut(text->string, column, TRIPLES_COLUMNS);
	if (!count)
		return;
	bool first = !reading->begun;
	reading->begun = true;
	if (first && is_names(reading, text))
		return;
	if (reading->names) {
		put_row(reading, text);
		return;
	}
	for (int i = 0; triples->quotes && i < count && i < TRIPLES_COLUMNS; i++)
		if (strchr(text->string, '\t'))
			tsv_unquote((char *)column[i].start, &column[i].length, true);
	const char *fault = triples->place(triples->context, column, count, &triple);
	if (fault)
		datafile_die(reading->file, fault);
	put(reading, &triple);
}

/* JSON of objects in objects. ------------------------------------------------------- */

/* Skips a byte order mark. */
static const char mark_and_brace[] = "\xEF\xBB\xBF{";

bool
triples_nested(struct input *input)
{
	enum { PEEK = 4096 };
	char text[PEEK];

	if (!input_starts_with(input, "{") && !input_starts_with(input, mark_and_brace))
		return false;
	size_t length = input_peek(input, text, PEEK);
	size_t at =
	    json_skip_blanks(text, text[0] == '{' ? 1 : strlen(mark_and_brace), length);
	if (at == length || text[at] != '"')
		return false;
	for (at++; at < length && text[at] != '"'; at++)
		at += text[at] == '\\';
	at = json_skip_blanks(text, at + 1, length);
	if (at >= length || text[at] != ':')
		return false;
	at = json_skip_blanks(text, at + 1, length);
	return at < length && text[at] == '{';
}

/* The first member that is a non-empty object, or NULL. */
static const struct tree *
first_member(const struct tree *object)
{
	for (size_t i = 0; i < object->count; i++)
		if (object->items[i]->kind == TREE_OBJECT && object->items[i]->count)
			return object->items[i];
	return NULL;
}

/* Steps into a subset and a split; dies if there are several. */
static const struct tree *
unwrap(struct tree *root)
{
	const struct tree *object = root, *inner;

	tree_remove(root, "mteb_model_meta");
	while ((inner = first_member(object)) && first_member(inner)) {
		char *names = mem_string("");
		for (size_t i = 0; i < object->count; i++)
			names = mem_list(names, object->items[i]->key);
		if (object->count > 1)
			tree_die(object,
			    "holds several subsets or splits, %s; keep one: jq '.[\"%s\"]'",
			    names, object->items[0]->key);
		free(names);
		object = inner;
	}
	return object;
}

static void
put_query(const struct triples *triples, const struct tree *query)
{
	struct triple triple = { .query = { query->key, strlen(query->key) } };

	tree_once(query);
	if (query->kind != TREE_OBJECT)
		tree_die(query, "query '%.60s': an object of documents is expected",
		    query->key);
	for (size_t i = 0; i < query->count; i++) {
		const struct tree *value = query->items[i];
		triple.document = (struct tsv_column){ value->key, strlen(value->key) };
		tree_once(value);
		if (!read_number(value, false, &triple.number))
			tree_die(value,
			    "query '%.60s', document '%.60s': the %s is not a number",
			    query->key, value->key, triples->number);
		const char *fault = hand_over(triples, &triple);
		if (fault)
			tree_die(value, "query '%.60s', document '%.60s': %s", query->key,
			    value->key, fault);
	}
}

static void
read_nested(const struct triples *triples, struct input *input)
{
	enum { BLOCK = 1 << 20 };
	struct buffer text = { 0 };
	size_t got;

	do {
		got = input_read(input, buffer_room(&text, BLOCK), BLOCK);
		text.used += got;
	} while (got);
	size_t skip = *text.data == '{' ? 0 : strlen(mark_and_brace) - 1;
	struct tree *root =
	    json_parse_python(text.data + skip, text.used - skip, input_name(input), 0);
	const struct tree *all = unwrap(root);
	for (size_t i = 0; i < all->count; i++)
		put_query(triples, all->items[i]);
	tree_free(root);
	free(text.data);
	input_close(input);
}

/* All of them. ---------------------------------------------------------------------- */

/* TSV may lack a header, so datafile.h cannot read it. */
static enum datafile_format
format_of(struct input *input)
{
	if (datafile_by_name(input_name(input)) == DATAFILE_CSV)
		return DATAFILE_CSV;
	return input_starts_with(input, "{") || input_starts_with(input, "[") ||
		       input_starts_with(input, mark_and_brace)
		   ? DATAFILE_JSONL
		   : DATAFILE_LINES;
}

void
triples_read(const struct triples *triples, struct input *input)
{
	if (triples_nested(input)) {
		read_nested(triples, input);
		return;
	}
	enum datafile_format format = format_of(input);
	struct triples_reader reading = { .triples = triples,
		.file = datafile_open_input(input, format) };
	struct tree *record;
	while ((record = datafile_next(reading.file))) {
		if (format == DATAFILE_LINES)
			put_line(&reading, tree_get(record, "text"));
		else
			put_object(&reading, record, format == DATAFILE_CSV);
	}
	datafile_warn_repaired(reading.file);
	datafile_close(reading.file);
	tree_free(reading.names);
}
