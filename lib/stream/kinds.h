/*
 * kinds - type inference for JSON fields: the kinds of values seen, and the column type that holds them all.
 */
#ifndef STREAM_KINDS_H
#define STREAM_KINDS_H

#include <stdbool.h>

#include "stream/stream.h"
#include "text/tree.h"

/* Bits of the kinds seen: of values, and of the elements of lists. */
enum {
	SEEN_NOTHING = 1, /* null or absent */
	SEEN_STRING = 2,
	SEEN_INTEGER = 4,
	SEEN_REAL = 8,
	SEEN_BOOL = 16,
	SEEN_LIST = 32,
	SEEN_NESTED = 64,
	SEEN_KINDS = 126, /* all of SEEN_STRING to SEEN_NESTED */
	ITEM_STRING = 128,
	ITEM_INTEGER = 256,
	ITEM_REAL = 512,
	ITEM_BOOL = 1024,
	SEEN_LONG = 2048,   /* an integer of more than 15 digits, not exact as f64 */
	SEEN_WIDE = 4096,   /* an integer beyond 64 bits */
	ITEM_NOTHING = 8192 /* null */
};

/* The bits of one value. */
unsigned kinds_of(const struct tree *value);

/* Whether an integer has more than 15 digits; is beyond 64 bits. */
bool kinds_is_long(const struct tree *value);
bool kinds_is_wide(const struct tree *value);

/* Sets dtype, depth and text of a column that holds all kinds seen.  Returns true if values other than strings become
 * JSON text. */
bool kinds_decide(unsigned seen, struct column *column);

#endif
