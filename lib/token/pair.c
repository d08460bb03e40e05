#include "token/pair.h"

#include "base/err.h"
#include "token/tokenizer_parts.h"

static size_t
specials(const struct pair_around *around)
{
	return around->before.count + around->between.count + around->after.count;
}

void
pair_demand(const struct tokenizer *tokenizer, size_t most)
{
	const struct pair_around *around = &tokenizer->pair;

	if (tokenizer->kind)
		die("%s: is a tokenizer of static embeddings, which read no pairs",
		    tokenizer->path);
	if (around->fault)
		die("%s: %s", tokenizer->path, around->fault);
	if (most && most <= specials(around))
		die("%s: a pair of at most %zu ids has no room for texts beside %zu special tokens",
		    tokenizer->path, most, specials(around));
}

size_t
pair_second_limit(const struct tokenizer *tokenizer, size_t most, size_t first)
{
	size_t room = most - specials(&tokenizer->pair);

	/* one more, so that a cut is noticed, and which of the two is longer */
	return most ? (first > room ? first : room) + 1 : 0;
}

void
pair_text(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t limit, struct ids *out)
{
	tokenizer_encode(tokenizer, text, length, limit, false, out);
}

/* Sets the lengths of both texts, which have more than `room` ids together; false: they do not fit. */
static bool
truncate(size_t *first, size_t *second, size_t room, enum pair_truncation truncation)
{
	bool swapped = *first > *second;
	size_t least = swapped ? *second : *first, other;

	if (truncation == PAIR_ONLY_SECOND) {
		/* as the reference, which leaves one id at least */
		if (*first >= room)
			return false;
		*second = room - *first;
		return true;
	}
	if (truncation == PAIR_REFUSE)
		return false;
	other = least > room || room - least < least ? least : room - least;
	if (least + other > room) {
		least = room / 2;
		other = least + room % 2;
	}
	*first = swapped ? other : least;
	*second = swapped ? least : other;
	return true;
}

/* The ids that are left of a text when it is cut to `count`. */
static const int32_t *
kept(const struct tokenizer *tokenizer, struct pair_side side, size_t count)
{
	return side.ids + (tokenizer->cut_left ? side.count - count : 0);
}

enum pair_outcome
pair_join(const struct tokenizer *tokenizer, struct pair_side first,
    struct pair_side second, size_t most, enum pair_truncation truncation,
    struct ids *out, int32_t *second_at)
{
	const struct pair_around *around = &tokenizer->pair;
	size_t a = first.count, b = second.count, room = most - specials(around);
	bool cut = most && a + b > room;

	if (cut && !truncate(&a, &b, room, truncation))
		return PAIR_LONG;
	a = a < first.count ? a : first.count;
	b = b < second.count ? b : second.count;
	ids_add(out, around->before.id, around->before.count);
	ids_add(out, kept(tokenizer, first, a), a);
	ids_add(out, around->between.id, around->between.count);
	ids_add(out, kept(tokenizer, second, b), b);
	ids_add(out, around->after.id, around->after.count);
	*second_at =
	    around->typed ? (int32_t)(around->before.count + a + around->first) : 0;
	return cut ? PAIR_CUT : PAIR_WHOLE;
}
