/*
 * emitted - the hidden states X.hs and the routing weights X.rw (MoEE, section 3.1) of each field X of a stream of 'encode --emit
 * hs,rw'.
 */
#ifndef PAPERS_MOEE_EMITTED_H
#define PAPERS_MOEE_EMITTED_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/moee/standardizer.h"
#include "stream/stream.h"
#include "stream/values.h"

enum { PART_HS, PART_RW, PARTS };

/* "hidden states", "routing weights" */
const char *emitted_kind(int kind);

struct emitted_part {
	int column, width;	       /* width 0: not wanted */
	struct standardizer *standard; /* borrowed; NULL: not standardised */

	/* of the loaded record */
	const float *x; /* [count, width] */

	/* private */
	struct floats room, standard_room;
};

struct emitted_field {
	char *name; /* X */
	bool lists; /* rows have lists of vectors */
	struct emitted_part parts[PARTS];
	int64_t count;		/* vectors of the record */
	const int64_t *offsets; /* [rows + 1] of the rows' lists; NULL: no lists */
};

struct emitted {
	struct reader *reader; /* borrowed; the caller may reopen the stream */
	int count;
	struct emitted_field *at;
};

/* Finds each field with the wanted parts.  Dies if there is none, if a field lacks a part, and if parts are no vectors or have
 * different widths. */
struct emitted *emitted_open(struct reader *reader, bool hs, bool rw);

/* The kind of the vectors that the stream names (values.h); NULL: not named, or not wanted. */
const char *emitted_made(const struct emitted *emitted, int kind);

/* Loads, and standardises, the vectors of a record.  Dies on components that are not finite, and if the lists of a field's parts
 * have different lengths. */
void emitted_load(struct emitted *emitted, const struct record *record);

/* A text of a pair: the field, and the number of its vector. */
struct emitted_side {
	const struct emitted_field *field;
	int64_t at;
};

/* The pairs: two fields of a row; or one field of a row with each member of the other fields' lists. */
enum emitted_layout { LAYOUT_OTHER, LAYOUT_PAIRS, LAYOUT_LISTS };
enum emitted_layout emitted_layout(const struct emitted *emitted);

/* Visits all pairs of the loaded record, unless the layout is LAYOUT_OTHER. */
void emitted_pairs(const struct emitted *emitted, int64_t rows,
    void (*visit)(void *context, struct emitted_side one, struct emitted_side two),
    void *context);

void emitted_free(struct emitted *emitted);

#endif
