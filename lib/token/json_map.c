#include "token/json_map.h"

#include <endian.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "text/json.h"
#include "text/json_string.h"

/* The cursor of a fast reader without messages.  Where it fails, the strict parser reads the text again and names the
 * fault and its place. */
struct json_cursor {
	const char *at, *end;
};

static inline void
skip_space(struct json_cursor *cursor)
{
	while (cursor->at < cursor->end && json_is_blank(*cursor->at))
		cursor->at++;
}

static inline bool
take(struct json_cursor *cursor, char wanted)
{
	skip_space(cursor);
	if (cursor->at == cursor->end || *cursor->at != wanted)
		return false;
	cursor->at++;
	return true;
}

/* Contents of a string: bytes beyond ASCII, escapes. */
enum { WIDE = 1, ESCAPED = 2 };

static const uint64_t EACH = 0x0101010101010101u; /* byte */

/* Loads eight bytes, little-endian. */
static uint64_t
eight(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return le64toh(word);
}

/* Marks the zero bytes of eight; only the lowest mark is certain. */
static uint64_t
zeros(uint64_t word)
{
	return (word - EACH) & ~word & EACH << 7;
}

/* The end of a run of plain characters; *all collects the high bits of bytes beyond ASCII. */
static const char *
skip_plain(const char *at, const char *end, uint64_t *all)
{
	while (end - at >= 8) {
		uint64_t word = eight(at);
		uint64_t marked = zeros(word ^ EACH * '"') | zeros(word ^ EACH * '\\') |
				  zeros(word & EACH * 0xE0);
		if (marked) {
			unsigned bits = (unsigned)__builtin_ctzll(marked) & 56;
			*all |= word & ~(UINT64_MAX << bits);
			return at + bits / 8;
		}
		*all |= word;
		at += 8;
	}
	return at;
}

/* The raw bytes between the quotes. */
static inline bool
take_string(struct json_cursor *cursor, const char **start, size_t *length, int *holds)
{
	uint64_t all = 0;
	int escapes = 0;

	if (!take(cursor, '"'))
		return false;
	const char *at = *start = cursor->at, *end = cursor->end;
	for (;; at++) {
		at = skip_plain(at, end, &all);
		if (at == end || *at == '"')
			break;
		all |= (unsigned char)*at;
		if ((unsigned char)*at < ' ')
			return false;
		if (*at == '\\') {
			escapes = ESCAPED;
			if (++at == end)
				return false;
		}
	}
	if (at == end)
		return false;
	*length = (size_t)(at - *start);
	*holds = escapes | (all & EACH << 7 ? WIDE : 0);
	cursor->at = at + 1;
	return true;
}

static bool
skip_value(struct json_cursor *cursor)
{
	const char *start;
	size_t length;
	int depth = 0, holds;

	skip_space(cursor);
	while (cursor->at < cursor->end) {
		char c = *cursor->at;
		if (c == '"') {
			if (!take_string(cursor, &start, &length, &holds))
				return false;
			continue;
		}
		if ((c == ',' || c == '}' || c == ']') && depth == 0)
			return true;
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		cursor->at++;
	}
	return false;
}

/* Reads the next member's key; moves the cursor to its value. */
static bool
take_key(struct json_cursor *cursor, const char **key, size_t *length)
{
	int holds;

	return take_string(cursor, key, length, &holds) && take(cursor, ':');
}

/* Enters the object at the cursor and moves to the value of a member. */
static bool
enter(struct json_cursor *cursor, const char *key)
{
	const char *start;
	size_t length;

	if (!take(cursor, '{'))
		return false;
	do {
		if (!take_key(cursor, &start, &length))
			return false;
		if (length == strlen(key) && !memcmp(start, key, length))
			return true;
		if (!skip_value(cursor))
			return false;
	} while (take(cursor, ','));
	return false;
}

/* An unescaped string, in the file or in `scratch`. */
struct json_map_text {
	const char *text;
	size_t length;
	char *scratch;
	size_t room;
};

static inline bool
take_text(struct json_cursor *cursor, struct json_map_text *text)
{
	int holds;

	if (!take_string(cursor, &text->text, &text->length, &holds))
		return false;
	if (holds & WIDE && utf8_valid(text->text, text->length) != text->length)
		return false;
	if (!(holds & ESCAPED))
		return true;
	text->scratch = mem_grow(text->scratch, &text->room, text->length + 1, 1);
	ptrdiff_t made = json_string_unescape(text->scratch, text->text, text->length);
	text->text = text->scratch;
	text->length = (size_t)made;
	return made >= 0;
}

static bool
take_integer(struct json_cursor *cursor, int64_t *number)
{
	bool negative = take(cursor, '-');
	const char *start = cursor->at;

	*number = 0;
	while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' &&
	       cursor->at - start < 18)
		*number = 10 * *number + (*cursor->at++ - '0');
	if (negative)
		*number = -*number;
	return cursor->at > start && cursor->at < cursor->end &&
	       (*cursor->at == ',' || *cursor->at == '}' || json_is_blank(*cursor->at));
}

enum { SURE = 19 }; /* a number of so many digits is below 2^64 */

/* Counts the leading digits of eight bytes, and appends their number to `made`: by pairs, pairs of pairs, and both
 * fours. */
static inline int
add_digits(uint64_t word, uint64_t *made)
{
	static const uint64_t power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000,
		10000000, 100000000 };
	uint64_t high = EACH * 0xF0, digits = EACH * '0';
	uint64_t others =
	    ((word & high) ^ digits) | (((word + EACH * 6) & high) ^ digits);
	int count = others ? __builtin_ctzll(others) / 8 : 8;

	word = (word ^ digits) << 4 * (8 - count) << 4 * (8 - count);
	word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FFu;
	word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFFu;
	*made = *made * power[count] + ((word * 10000 + (word >> 32)) & UINT32_MAX);
	return count;
}

/* Appends digits to `whole` until one more would overflow.  Returns the number of digits read; *taken grows by the
 * number appended. */
static inline int
take_digits(struct json_cursor *cursor, uint64_t *whole, int *taken)
{
	const char *at = cursor->at, *start = at;
	uint64_t made = *whole;
	int more = *taken, count = 8;
	bool full = false;

	for (; count == 8 && more + 8 <= SURE && cursor->end - at >= 8; more += count) {
		count = add_digits(eight(at), &made);
		at += count;
	}
	for (; at < cursor->end && *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		full |= more >= SURE && made > (UINT64_MAX - digit) / 10;
		if (full)
			continue;
		made = 10 * made + digit;
		more++;
	}
	*taken = more;
	*whole = made;
	cursor->at = at;
	return at - start < INT_MAX / 4 ? (int)(at - start) : INT_MAX / 4;
}

static double
power_of_ten(int exponent)
{
	static const double exact[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
		1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
		1e22 };
	char text[16];
	double power = 0;

	if (exponent < (int)(sizeof exact / sizeof *exact))
		return exact[exponent];
	number_read(text, (size_t)snprintf(text, sizeof text, "1e%d", exponent), &power);
	return power;
}

/* Parses -?digits[.digits][e[+-]digits] with the reference's rounding; false on overflow. */
static inline bool
take_number(struct json_cursor *cursor, double *number)
{
	uint64_t whole = 0, power = 0;
	bool negative = take(cursor, '-'), below = false;
	int taken = 0, digits = take_digits(cursor, &whole, &taken);

	if (!digits)
		return false;
	int exponent = digits - taken, before = taken;
	if (cursor->at < cursor->end && *cursor->at == '.') {
		cursor->at++;
		if (!take_digits(cursor, &whole, &taken))
			return false;
		exponent -= taken - before;
	}
	if (cursor->at < cursor->end && (*cursor->at | 0x20) == 'e') {
		cursor->at++;
		if (cursor->at < cursor->end &&
		    (*cursor->at == '-' || *cursor->at == '+'))
			below = *cursor->at++ == '-';
		taken = 0;
		if (!take_digits(cursor, &power, &taken))
			return false;
		power = power < 1 << 20 ? power : 1 << 20;
		exponent += below ? -(int)power : (int)power;
	}
	*number = (double)whole;
	for (; exponent < -308 && *number != 0; exponent += 308)
		*number /= 1e308;
	if (*number != 0)
		*number = exponent < 0	    ? *number / power_of_ten(-exponent)
			  : exponent <= 308 ? *number * power_of_ten(exponent)
					    : INFINITY;
	*number = negative ? -*number : *number;
	return isfinite(*number);
}

/* Reads an element of a part and calls the part's function; text: room for its texts. */
typedef bool take_element(struct json_cursor *cursor, const struct json_map_part *part,
    void *context, struct json_map_text text[2]);

static bool
take_member(struct json_cursor *cursor, const struct json_map_part *part, void *context,
    struct json_map_text text[2])
{
	int64_t number;
	bool good =
	    take_text(cursor, text) && take(cursor, ':') && take_integer(cursor, &number);

	if (good)
		part->member(context, text->text, text->length, number);
	return good;
}

static bool
take_pair(struct json_cursor *cursor, const struct json_map_part *part, void *context,
    struct json_map_text text[2])
{
	bool two = take(cursor, '[');
	bool good = take_text(cursor, &text[0]) &&
		    (!two || (take(cursor, ',') && take_text(cursor, &text[1]) &&
				 take(cursor, ']')));

	if (good)
		part->pair(context, text[0].text, text[0].length,
		    two ? text[1].text : NULL, text[1].length);
	return good;
}

static bool
take_score(struct json_cursor *cursor, const struct json_map_part *part, void *context,
    struct json_map_text text[2])
{
	double number;
	bool good = take(cursor, '[') && take_text(cursor, text) && take(cursor, ',') &&
		    take_number(cursor, &number) && take(cursor, ']');

	if (good)
		part->score(context, text->text, text->length, number);
	return good;
}

/* Reads all elements between two brackets. */
static bool
take_all(struct json_cursor *cursor, const char *brackets, take_element *element,
    const struct json_map_part *part, void *context)
{
	struct json_map_text text[2] = { 0 };
	bool good = take(cursor, brackets[0]);

	if (good && take(cursor, brackets[1]))
		return true;
	do
		good = good && element(cursor, part, context, text);
	while (good && take(cursor, ','));
	free(text[0].scratch);
	free(text[1].scratch);
	return good && take(cursor, brackets[1]);
}

/* The bytes of a part's value, which the tree leaves out. */
struct json_map_span {
	const char *start, *end;
	bool read;
};

static size_t
count_lines(const char *at, const char *end)
{
	size_t lines = 0;

	while (at < end) {
		unsigned char few = 0; /* so that many bytes are compared at once */
		size_t step = end - at < 192 ? (size_t)(end - at) : 192;
		for (size_t i = 0; i < step; i++)
			few = (unsigned char)(few + (at[i] == '\n'));
		lines += few;
		at += step;
	}
	return lines;
}

static void
read_part(const char *path, const char *text, size_t length, struct json_cursor *cursor,
    const struct json_map_part *part, void *context)
{
	bool object = *cursor->at == '{';
	take_element *element = object	      ? take_member
				: part->score ? take_score
					      : take_pair;

	if (take_all(cursor, object ? "{}" : "[]", element, part, context)) {
		if (part->end)
			part->end(context);
		return;
	}
	/* the strict parser reports errors of JSON */
	tree_free(json_parse(text, length, path, 0));
	die("%s: '%s' must be %s", path, part->key,
	    object	  ? "an object of integers"
	    : part->score ? "a list of pairs of a string and a number"
			  : "a list of strings or of pairs of strings");
}

/* Reads a part at once if all parts before it were read, else after them. */
static void
read_parts(const char *path, const char *text, size_t length, struct json_cursor *cursor,
    const struct json_map_part *part, size_t parts, struct json_map_span *span,
    void *context)
{
	const char *key;
	size_t size, next = 0;

	if (!take(cursor, '{'))
		return;
	do {
		if (!take_key(cursor, &key, &size))
			return;
		size_t p = 0;
		while (p < parts &&
		       (size != strlen(part[p].key) || memcmp(key, part[p].key, size)))
			p++;
		skip_space(cursor);
		bool ours =
		    p < parts && cursor->at < cursor->end && !span[p].start &&
		    ((*cursor->at == '{' && part[p].member) ||
			(*cursor->at == '[' && !(part[p].member && !part[p].score)));
		const char *start = cursor->at;
		if (ours && p == next) {
			read_part(path, text, length, cursor, &part[p], context);
			span[p].read = true;
		} else if (!skip_value(cursor)) {
			break;
		}
		if (ours)
			span[p] =
			    (struct json_map_span){ start, cursor->at, span[p].read };
		while (next < parts && span[next].read)
			next++;
	} while (take(cursor, ','));
	for (size_t p = 0; p < parts; p++)
		if (span[p].start && !span[p].read) {
			struct json_cursor inner = { span[p].start, text + length };
			read_part(path, text, length, &inner, &part[p], context);
		}
}

/* The text with each span replaced by null and its line breaks, so that line numbers stay. */
static struct tree *
parse_without(const char *path, const char *text, size_t length,
    const struct json_map_span *span, size_t parts)
{
	const char *from = text, *end = text + length;
	struct buffer rest = { 0 };

	for (;;) {
		const struct json_map_span *first = NULL;
		for (size_t p = 0; p < parts; p++)
			if (span[p].start && span[p].start >= from &&
			    (!first || span[p].start < first->start))
				first = &span[p];
		buffer_add(&rest, from, (size_t)((first ? first->start : end) - from));
		if (!first)
			break;
		buffer_add(&rest, "null", 4);
		size_t lines = count_lines(first->start, first->end);
		memset(buffer_room(&rest, lines), '\n', lines);
		rest.used += lines;
		from = first->end;
	}
	char *name = mem_string(path);
	struct tree *tree = json_parse(rest.data, rest.used, name, 0);
	tree->name = name;
	free(rest.data);
	return tree;
}

struct tree *
json_map_read(const char *path, const char *text, size_t length, const char *outer,
    const struct json_map_part *part, size_t parts, void *context)
{
	struct json_cursor cursor = { text, text + length };
	struct json_map_span span[JSON_MAP_PARTS] = { 0 };

	if (!outer || enter(&cursor, outer))
		read_parts(path, text, length, &cursor, part, parts, span, context);
	return parse_without(path, text, length, span, parts);
}
