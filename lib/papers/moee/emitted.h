/*
 * emitted - the hidden states X.hs and the routing weights X.rw of each field X of a stream, as
 * 'encode --emit hs,rw' makes them.
 */
#ifndef PAPERS_MOEE_EMITTED_H
#define PAPERS_MOEE_EMITTED_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/moee/standard.h"
#include "stream/stream.h"
#include "stream/values.h"

enum { PART_HS, PART_RW, PARTS };

/* "hidden states", "routing weights" */
const char *emitted_kind(int kind);

struct emitted_part {
	int column, width;	   /* width 0: it is not wanted */
	struct standard *standard; /* borrowed; NULL: vectors stay as they are */

	/* of the record that was loaded */
	const float *x; /* [count, width] */

	/* its own affairs */
	struct floats room, standard_room;
};

struct emitted_field {
	char *name; /* X */
	bool lists; /* rows have lists of vectors */
	struct emitted_part parts[PARTS];
	int64_t count;		/* vectors of the record */
	const int64_t *offsets; /* where the rows' lists begin; NULL: rows have none */
};

struct emitted {
	struct reader
	    *reader; /* borrowed; may be replaced by another of the same stream */
	int count;
	struct emitted_field *at;
};

/* Each field with all parts that are wanted.  Dies, naming what to do, where there is none, where one has a part and
 * not the other, and on parts that are no vectors, or are of several widths. */
struct emitted *emitted_open(struct reader *reader, bool hs, bool rw);

/* What the stream says that they are (values.h); NULL: no more than their name, or they are not wanted. */
const char *emitted_made(const struct emitted *emitted, int kind);

/* The vectors of a record, standardised where that is so.  Dies on components that are not finite, and on lists of
 * unequal length in the parts of a field. */
void emitted_load(struct emitted *emitted, const struct record *record);

/* One of a pair: the field, and which of its vectors. */
struct emitted_side {
	const struct emitted_field *field;
	int64_t at;
};

/* Which vectors are compared: those of two fields in a row, or that of one field with those of each list of the
 * others. */
enum emitted_layout { LAYOUT_OTHER, LAYOUT_PAIRS, LAYOUT_LISTS };
enum emitted_layout emitted_layout(const struct emitted *emitted);

/* All pairs of the record that was loaded, of these layouts. */
void emitted_pairs(const struct emitted *emitted, int64_t rows,
    void (*visit)(void *context, struct emitted_side one, struct emitted_side two),
    void *context);

void emitted_free(struct emitted *emitted);

#endif
