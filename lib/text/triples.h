/*
 * triples - reads (query, document, number) triples: judgements and runs.
 *
 *	lines		columns separated by tabs or by blanks, in the caller's order; or, after a line of names
 *			(query-id, corpus-id, score and similar), in any order, among other columns
 *	JSON Lines	objects, or an array of objects, with members of those names
 *	CSV		files named .csv, with those names
 *	JSON		{"query": {"document": number, ...}, ...}; mteb's predictions have it inside a
 *			subset and a split
 *
 * Ids are strings or integers.
 */
#ifndef TEXT_TRIPLES_H
#define TEXT_TRIPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/input.h"
#include "base/number.h"
#include "text/tree.h"
#include "text/tsv.h"

struct triple {
	struct tsv_column query, document; /* borrowed */
	double number;
	const struct tsv_column *tag; /* NULL: none */
};

/* Both return NULL, or an error message. */
typedef const char *triples_place(
    void *context, const struct tsv_column *columns, int count, struct triple *triple);
typedef const char *triples_put(void *context, const struct triple *triple);

enum { TRIPLES_COLUMNS = 6 };

struct triples {
	const char *number; /* the number's name in messages: "grade" */
	const char *const *
	    numbers; /* column names that it may have, lower case without punctuation, up to NULL */
	bool quotes; /* TSV values may be quoted, as a CSV writer quotes them */
	triples_place *
	    place; /* fills the triple from a line without names, of at most TRIPLES_COLUMNS + 1 columns */
	triples_put *put;
	void *context;
};

/* Reads and closes the input, calling put for each triple; dies with FILE:LINE on anything else. */
void triples_read(const struct triples *triples, struct input *input);

/* Whether the input starts with an object whose first member is an object.  Call before the first read. */
bool triples_nested(struct input *input);

/* The id of a JSON string, or of an integer, which is written into `room`; false: the value is neither. */
enum { TRIPLES_ID_ROOM = NUMBER_ROOM };
bool triples_id(
    const struct tree *value, char room[TRIPLES_ID_ROOM], struct tsv_column *id);

/* The same of a record's member "_id", or else "id"; false also if it has neither. */
bool triples_record_id(
    const struct tree *record, char room[TRIPLES_ID_ROOM], struct tsv_column *id);

#endif
