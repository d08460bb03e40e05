/*
 * kinds - which column holds the values of a field of JSON: what they are, and the column for all of them.
 */
#ifndef STREAM_KINDS_H
#define STREAM_KINDS_H

#include <stdbool.h>

#include "stream/stream.h"
#include "text/tree.h"

/* What the sample shows of a field: the kinds of its values, and of the elements of its lists. */
enum {
	SEEN_NOTHING = 1, /* null or absent */
	SEEN_STRING = 2,
	SEEN_INTEGER = 4,
	SEEN_REAL = 8,
	SEEN_BOOL = 16,
	SEEN_LIST = 32,
	SEEN_NESTED = 64,
	SEEN_KINDS = 126, /* those from a string on */
	ITEM_STRING = 128,
	ITEM_INTEGER = 256,
	ITEM_REAL = 512,
	ITEM_BOOL = 1024,
	SEEN_LONG = 2048, /* an integer of more digits than a real keeps */
	SEEN_WIDE = 4096  /* one beyond 64 bits */
};

/* What one value is. */
unsigned kinds_of(const struct tree *value);

/* Whether an integer is exact in no column of reals; in no column of numbers. */
bool kinds_is_long(const struct tree *value);
bool kinds_is_wide(const struct tree *value);

/* The dtype, depth and text of a column for all that was seen.  Returns whether values that are no strings become JSON
 * text in it. */
bool kinds_decide(unsigned seen, struct column *column);

#endif
