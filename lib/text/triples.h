/*
 * triples - a query, a document and a number: what judgements and runs consist of, and how files have them.
 *
 *	lines		columns between tabs, or between blanks, in an order of their own; or, with a line of names
 *			before them (query-id, corpus-id, score and their likes), in any order beside others
 *	JSON Lines	objects, or an array of them, with members of those names
 *	CSV		by the file's name; with those names
 *	JSON		{"query": {"document": number, ...}, ...}; as mteb keeps predictions, inside a
 *			subset and a split
 *
 * Ids are text or integers.
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

/* Both return NULL, or what is wrong with it. */
typedef const char *triples_place(
    void *context, const struct tsv_column *columns, int count, struct triple *triple);
typedef const char *triples_put(void *context, const struct triple *triple);

enum { TRIPLES_COLUMNS = 6 };

struct triples {
	const char *number; /* what it is: "grade" */
	const char *const
	    *numbers; /* its names in small letters without signs, up to NULL */
	bool quotes;  /* values of TSV may be in quotes, as by a CSV writer */
	triples_place
	    *place; /* of a line without names, of at most TRIPLES_COLUMNS + 1 columns */
	triples_put *put;
	void *context;
};

/* Reads all of the input and closes it; dies with FILE:LINE on what is no triple. */
void triples_read(const struct triples *triples, struct input *input);

/* Whether the input begins with an object whose first member is an object.  Before the first read. */
bool triples_nested(struct input *input);

/* An id as JSON has it: text, or an integer, which is written into the room; false: neither. */
enum { TRIPLES_ID_ROOM = NUMBER_ROOM };
bool triples_id(
    const struct tree *value, char room[TRIPLES_ID_ROOM], struct tsv_column *id);

#endif
