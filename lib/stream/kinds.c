#include "stream/kinds.h"

/* Up to this integer all are exact as f64 and printed without an exponent. */
static const int64_t LONGEST = 999999999999999;

bool
kinds_is_long(const struct tree *value)
{
	return value->kind == TREE_INTEGER &&
	       (value->integer > LONGEST || value->integer < -LONGEST);
}

bool
kinds_is_wide(const struct tree *value)
{
	return value->kind == TREE_REAL && value->string;
}

static unsigned
length_of(const struct tree *value)
{
	return kinds_is_wide(value)   ? SEEN_LONG | SEEN_WIDE
	       : kinds_is_long(value) ? SEEN_LONG
				      : 0;
}

unsigned
kinds_of(const struct tree *value)
{
	unsigned seen = SEEN_LIST;

	if (tree_is_missing(value))
		return SEEN_NOTHING;
	switch (value->kind) {
	case TREE_BOOL: return SEEN_BOOL;
	case TREE_INTEGER: return SEEN_INTEGER | length_of(value);
	case TREE_REAL:
		return kinds_is_wide(value) ? SEEN_INTEGER | length_of(value) : SEEN_REAL;
	case TREE_OBJECT: return SEEN_NESTED;
	case TREE_STRING: return SEEN_STRING;
	default: break;
	}
	for (size_t i = 0; i < value->count; i++) {
		seen |= length_of(value->items[i]);
		switch (value->items[i]->kind) {
		case TREE_STRING: seen |= ITEM_STRING; break;
		case TREE_INTEGER: seen |= ITEM_INTEGER; break;
		case TREE_REAL: seen |= ITEM_REAL; break;
		case TREE_BOOL: seen |= ITEM_BOOL; break;
		case TREE_NULL: seen |= ITEM_NOTHING; break;
		default: return SEEN_NESTED;
		}
	}
	return seen;
}

/* Whether the numbers seen are exact in a column of integers, or of reals. */
static bool
fits(unsigned seen, bool reals)
{
	return !(seen & SEEN_WIDE) && !(reals && (seen & SEEN_LONG));
}

/* Whether no other bits are set. */
static bool
only(unsigned seen, unsigned bits)
{
	return !(seen & ~bits);
}

static bool
set_kind(struct column *column, enum dtype dtype, bool text, int depth)
{
	column->dtype = dtype;
	column->text = text;
	column->depth = depth;
	return false;
}

static bool
decide_list(unsigned seen, struct column *column)
{
	const unsigned numbers = ITEM_INTEGER | ITEM_REAL,
		       reals = ITEM_REAL | ITEM_NOTHING;
	unsigned items = seen & (ITEM_STRING | numbers | reals | ITEM_BOOL);

	if (only(items, ITEM_STRING))
		return set_kind(column, DTYPE_U8, true, 2);
	if (items & numbers && only(items, numbers | reals) && fits(seen, items & reals))
		return set_kind(column, items & reals ? DTYPE_F64 : DTYPE_I64, false, 1);
	if (only(items, ITEM_BOOL))
		return set_kind(column, DTYPE_BOOL, false, 1);
	return true;
}

bool
kinds_decide(unsigned seen, struct column *column)
{
	unsigned kind = seen & SEEN_KINDS;
	bool nothing = seen & SEEN_NOTHING, whole = kind == SEEN_INTEGER && !nothing;

	set_kind(column, DTYPE_U8, true, 1);
	if (only(kind, SEEN_STRING))
		return false;
	if (only(kind, SEEN_INTEGER | SEEN_REAL) && fits(seen, !whole))
		return set_kind(column, whole ? DTYPE_I64 : DTYPE_F64, false, 0);
	if (kind == SEEN_BOOL && !nothing)
		return set_kind(column, DTYPE_BOOL, false, 0);
	return kind != SEEN_LIST || decide_list(seen, column);
}
