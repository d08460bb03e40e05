#include "token/splitter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/expression.h"

enum kind { GPT2, CL100K, CLASS, LINE_SPACE, TRAITS, WORDS, STRING, EXPRESSION };

struct code_range {
	int32_t first, last;
};

struct splitter {
	enum kind kind;
	int digits;		   /* CL100K: most digits of a piece */
	unsigned traits;	   /* TRAITS */
	bool blank, many;	   /* CLASS: \s? before it, + after it */
	struct code_range *ranges; /* CLASS */
	size_t count, capacity;
	bool ascii[128]; /* CLASS: members of the class */
	char *text;	 /* STRING */
	size_t length;
	struct expression *expression; /* EXPRESSION */
	unsigned char small[128]; /* classes of ASCII characters for GPT2 and CL100K */
};

static const struct {
	const char *pattern;
	enum kind kind;
	int digits;
} known[] = {
	{ "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
	    GPT2, 0 },
	{ "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
	    CL100K, 1 },
	{ "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
	    CL100K, 3 },
	{ "\\s+$", LINE_SPACE, 0 },
};

enum speech { OTHER, LETTER, NUMBER, SPACE };

static enum speech
speech_of(int32_t code)
{
	unsigned traits = utf8_traits(code);

	return traits & UTF8_LETTER   ? LETTER
	       : traits & UTF8_NUMBER ? NUMBER
	       : traits & UTF8_SPACE  ? SPACE
				      : OTHER;
}

static struct splitter *
new_splitter(enum kind kind)
{
	struct splitter *splitter = mem_zero(1, sizeof *splitter);

	splitter->kind = kind;
	for (int32_t code = 0; code < 128; code++)
		splitter->small[code] = (unsigned char)speech_of(code);
	return splitter;
}

/* A class of plain characters and ranges: [...], [...]+ or \s?[...]+; NULL: something else. */
static struct splitter *
parse_class(const char *pattern, size_t length)
{
	const char *at = pattern, *end = pattern + length;
	bool blank = length > 3 && !memcmp(at, "\\s?", 3);

	at += blank ? 3 : 0;
	bool many = length > 0 && end[-1] == '+';
	end -= many;
	if (end - at < 3 || *at != '[' || end[-1] != ']' || (blank && !many) ||
	    at[1] == '^' || memchr(at, '\\', (size_t)(end - at)) ||
	    memchr(at + 1, '[', (size_t)(end - at) - 1) ||
	    memchr(at, ']', (size_t)(end - at) - 1) ||
	    memmem(at, (size_t)(end - at), "&&", 2))
		return NULL;
	struct splitter *splitter = new_splitter(CLASS);
	splitter->blank = blank;
	splitter->many = many;
	for (at++, end--; at < end;) {
		struct code_range range;
		at += utf8_decode(at, (size_t)(end - at), &range.first);
		range.last = range.first;
		if (end - at > 1 && *at == '-') {
			at++;
			at += utf8_decode(at, (size_t)(end - at), &range.last);
		}
		if (range.first < 0 || range.last < range.first) {
			splitter_free(splitter);
			return NULL;
		}
		splitter->ranges = mem_grow(splitter->ranges, &splitter->capacity,
		    splitter->count + 1, sizeof range);
		splitter->ranges[splitter->count++] = range;
		for (int32_t c = range.first; c <= range.last && c < 128; c++)
			splitter->ascii[c] = true;
	}
	return splitter;
}

static int
by_first(const void *a, const void *b)
{
	int32_t left = ((const struct code_range *)a)->first,
		right = ((const struct code_range *)b)->first;

	return (left > right) - (left < right);
}

/* Sorts and joins ranges for binary search. */
static void
order_ranges(struct splitter *splitter)
{
	struct code_range *range = splitter->ranges;
	size_t kept = 0;

	qsort(range, splitter->count, sizeof *range, by_first);
	for (size_t i = 0; i < splitter->count; i++)
		if (kept && range[i].first <= range[kept - 1].last + 1) {
			if (range[i].last > range[kept - 1].last)
				range[kept - 1].last = range[i].last;
		} else {
			range[kept++] = range[i];
		}
	splitter->count = kept;
}

static struct splitter *
splitter_of_regex(const char *file, const char *pattern, size_t length)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (length == strlen(known[i].pattern) &&
		    !memcmp(pattern, known[i].pattern, length)) {
			struct splitter *splitter = new_splitter(known[i].kind);
			splitter->digits = known[i].digits;
			return splitter;
		}
	struct splitter *splitter = parse_class(pattern, length);
	if (splitter) {
		order_ranges(splitter);
		return splitter;
	}
	splitter = new_splitter(EXPRESSION);
	splitter->expression = expression_new(file, pattern, length);
	return splitter;
}

struct splitter *
splitter_of_string(const char *text, size_t length)
{
	struct splitter *splitter = new_splitter(STRING);

	splitter->text = mem_new(length + 1, 1);
	memcpy(splitter->text, text, length);
	splitter->length = length;
	return splitter;
}

struct splitter *
splitter_of_pattern(const struct tree *node, const char *section)
{
	const struct tree *pattern = tree_need(node, "pattern"),
			  *text = tree_get(pattern, "String"),
			  *regex = tree_get(pattern, "Regex");

	if (text && text->kind == TREE_STRING && text->length)
		return splitter_of_string(text->string, text->length);
	if (regex && regex->kind == TREE_STRING)
		return splitter_of_regex(node->file, regex->string, regex->length);
	tree_die(node, "%s: the pattern of a %s must be a String, not empty, or a Regex",
	    section, tree_string(node, "type", ""));
}

struct splitter *
splitter_of_traits(unsigned traits)
{
	struct splitter *splitter = new_splitter(TRAITS);

	splitter->traits = traits;
	return splitter;
}

struct splitter *
splitter_of_gpt2(void)
{
	return new_splitter(GPT2);
}

struct splitter *
splitter_of_words(void)
{
	return new_splitter(WORDS);
}

void
splitter_free(struct splitter *splitter)
{
	if (splitter->expression)
		expression_free(splitter->expression);
	free(splitter->ranges);
	free(splitter->text);
	free(splitter);
}

/* Matching by hand.  Each finds the first match at or after `from`. ------------------ */

/* The class of the character at `at` and its bytes; OTHER and 0 at the end. */
static enum speech
speech_at(const struct splitter *splitter, const char *text, size_t length, size_t at,
    size_t *bytes)
{
	int32_t code;

	*bytes = 0;
	if (at >= length)
		return OTHER;
	unsigned char byte = (unsigned char)text[at];
	*bytes = 1;
	if (byte < 128)
		return (enum speech)splitter->small[byte];
	*bytes = utf8_decode(text + at, length - at, &code);
	return speech_of(code);
}

/* The end of the characters of one kind from `at` on; `last`: where the last of them starts. */
static size_t
run_end(const struct splitter *splitter, const char *text, size_t length, size_t at,
    enum speech speech, size_t *last)
{
	size_t bytes;

	*last = at;
	while (at < length) {
		if (speech_at(splitter, text, length, at, &bytes) != speech)
			break;
		*last = at;
		at += bytes;
	}
	return at;
}

/* \s+(?!\S)|\s+ at a white space: leave the last character to the next match. */
static size_t
space_end(const struct splitter *splitter, const char *text, size_t length, size_t at)
{
	size_t last, end = run_end(splitter, text, length, at, SPACE, &last);

	return end == length || last == at ? end : last;
}

/* 's 't 're 've 'm 'll 'd behind an apostrophe: bytes in all, or 0. */
static size_t
contraction(const char *text, size_t length, bool any_case)
{
	char fold = any_case ? 0x20 : 0;

	if (length < 2)
		return 0;
	char first = (char)(text[1] | ((unsigned char)text[1] < 128 ? fold : 0));
	char second = length > 2 ? (char)(text[2] | fold) : 0;
	if (first == 's' || first == 't' || first == 'm' || first == 'd')
		return 2;
	if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
	    (first == 'l' && second == 'l'))
		return 3;
	/* the long s folds to s */
	return any_case && length > 2 && !memcmp(text + 1, "\xC5\xBF", 2) ? 3 : 0;
}

static size_t
end_of_gpt2(const struct splitter *splitter, const char *text, size_t length, size_t from)
{
	size_t bytes, next, last;

	if (text[from] == '\'') {
		size_t end = contraction(text + from, length - from, false);
		if (end)
			return from + end;
	}
	enum speech speech = speech_at(splitter, text, length, from, &bytes);
	if (speech != SPACE)
		return run_end(splitter, text, length, from + bytes, speech, &last);
	if (text[from] == ' ' && from + 1 < length) {
		speech = speech_at(splitter, text, length, from + 1, &next);
		if (speech != SPACE)
			return run_end(
			    splitter, text, length, from + 1 + next, speech, &last);
	}
	return space_end(splitter, text, length, from);
}

/* White space from `from`: up to and including its last line break, if it has one. */
static size_t
end_of_breaks(
    const struct splitter *splitter, const char *text, size_t length, size_t from)
{
	size_t last, end = run_end(splitter, text, length, from, SPACE, &last);

	for (size_t at = end; at > from; at--)
		if (text[at - 1] == '\n' || text[at - 1] == '\r')
			return at;
	return end == length || last == from ? end : last;
}

static size_t
end_of_cl100k(
    const struct splitter *splitter, const char *text, size_t length, size_t from)
{
	size_t bytes, next, last;

	if (text[from] == '\'') {
		size_t end = contraction(text + from, length - from, true);
		if (end)
			return from + end;
	}
	enum speech speech = speech_at(splitter, text, length, from, &bytes);
	size_t at = from + bytes;
	if (speech == LETTER)
		return run_end(splitter, text, length, at, LETTER, &last);
	if (speech == NUMBER) {
		for (int i = 1; i < splitter->digits; i++, at += next)
			if (speech_at(splitter, text, length, at, &next) != NUMBER)
				break;
		return at;
	}
	enum speech second = speech_at(splitter, text, length, at, &next);
	bool line = text[from] == '\n' || text[from] == '\r';
	if (next && second == LETTER && !line)
		return run_end(splitter, text, length, at, LETTER, &last);
	if (speech == SPACE && !(text[from] == ' ' && next && second == OTHER))
		return end_of_breaks(splitter, text, length, from);
	at = run_end(splitter, text, length, at, OTHER, &last);
	while (at < length && (text[at] == '\n' || text[at] == '\r'))
		at++;
	return at;
}

static bool
in_class(const struct splitter *splitter, int32_t code)
{
	size_t low = 0, high = splitter->count;

	if (code < 128)
		return code >= 0 && splitter->ascii[code];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (code > splitter->ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < splitter->count && code >= splitter->ranges[low].first;
}

static bool
next_class(const struct splitter *splitter, const char *text, size_t length, size_t from,
    size_t *start, size_t *stop)
{
	size_t blank = SIZE_MAX; /* a white space right before */
	int32_t code;

	for (size_t at = from, bytes; at < length; at += bytes) {
		bytes = utf8_decode(text + at, length - at, &code);
		if (!in_class(splitter, code)) {
			bool space = splitter->blank && utf8_traits(code) & UTF8_SPACE;
			blank = space ? at : SIZE_MAX;
			continue;
		}
		*start = blank < at ? blank : at;
		*stop = at + bytes;
		while (splitter->many && *stop < length) {
			bytes = utf8_decode(text + *stop, length - *stop, &code);
			if (!in_class(splitter, code))
				break;
			*stop += bytes;
		}
		return true;
	}
	return false;
}

/* \s+$, where $ is also before a line break. */
static bool
next_line_space(const struct splitter *splitter, const char *text, size_t length,
    size_t from, size_t *start, size_t *stop)
{
	size_t bytes, last;

	for (size_t at = from; at < length;) {
		if (speech_at(splitter, text, length, at, &bytes) != SPACE) {
			at += bytes;
			continue;
		}
		size_t end = run_end(splitter, text, length, at, SPACE, &last);
		*start = at;
		*stop = end;
		if (end == length)
			return true;
		while (*stop > at + 1 && text[*stop - 1] != '\n')
			--*stop;
		if (--*stop > at)
			return true;
		at = end;
	}
	return false;
}

static bool
next_trait(const struct splitter *splitter, const char *text, size_t length, size_t from,
    size_t *start, size_t *stop)
{
	int32_t code;

	for (size_t at = from, bytes; at < length; at += bytes) {
		bytes = utf8_decode(text + at, length - at, &code);
		if (code < 0 || !(utf8_traits(code) & splitter->traits))
			continue;
		*start = at;
		*stop = at + bytes;
		return true;
	}
	return false;
}

static bool
next_word(const char *text, size_t length, size_t from, size_t *start, size_t *stop)
{
	unsigned kind = 0;
	int32_t code;

	*start = *stop = length;
	for (size_t at = from, bytes; at < length; at += bytes) {
		bytes = utf8_decode(text + at, length - at, &code);
		unsigned traits = code < 0 ? 0 : utf8_traits(code);
		unsigned here = traits & UTF8_WORD    ? UTF8_WORD
				: traits & UTF8_SPACE ? UTF8_SPACE
						      : UTF8_PUNCT;
		if (*start == length && here != UTF8_SPACE) {
			*start = at;
			kind = here;
		}
		if (*start < length && here != kind) {
			*stop = at;
			break;
		}
	}
	return *start < length;
}

static bool
next_match(const struct splitter *splitter, const char *text, size_t length, size_t from,
    size_t *start, size_t *stop)
{
	const char *found;

	*start = from;
	switch (splitter->kind) {
	case GPT2: *stop = end_of_gpt2(splitter, text, length, from); return true;
	case CL100K: *stop = end_of_cl100k(splitter, text, length, from); return true;
	case CLASS: return next_class(splitter, text, length, from, start, stop);
	case LINE_SPACE:
		return next_line_space(splitter, text, length, from, start, stop);
	case TRAITS: return next_trait(splitter, text, length, from, start, stop);
	case WORDS: return next_word(text, length, from, start, stop);
	case STRING:
	case EXPRESSION: break;
	}
	found = memmem(text + from, length - from, splitter->text, splitter->length);
	*start = found ? (size_t)(found - text) : length;
	*stop = *start + splitter->length;
	return found;
}

bool
splitter_parts(const struct splitter *splitter, const char *text, size_t length,
    splitter_part *each, void *context)
{
	size_t at = 0, start, stop;

	if (splitter->kind == EXPRESSION)
		return expression_parts(
		    splitter->expression, text, length, each, context);
	while (at < length && next_match(splitter, text, length, at, &start, &stop)) {
		if (start > at && !each(context, text + at, start - at, false))
			return false;
		if (!each(context, text + start, stop - start, true))
			return false;
		at = stop;
	}
	return at >= length || each(context, text + at, length - at, false);
}

/* Pieces. -------------------------------------------------------------------------- */

/* The reference folds the parts into a list; this holds back the last of that list. */
struct fold {
	enum split_behaviour behaviour;
	bool invert, before; /* before: whether the part before was a match */
	const char *text;    /* held back; NULL: nothing */
	size_t length;
	splitter_piece *each;
	void *context;
};

static bool
fold_end(struct fold *fold)
{
	const char *text = fold->text;

	fold->text = NULL;
	return !text || !fold->length || fold->each(fold->context, text, fold->length);
}

static bool
fold_part(void *context, const char *text, size_t length, bool match)
{
	struct fold *fold = context;
	bool joins = false;

	match ^= fold->invert;
	switch (fold->behaviour) {
	case SPLIT_ISOLATED: return !length || fold->each(fold->context, text, length);
	case SPLIT_REMOVED:
		return match || !length || fold->each(fold->context, text, length);
	case SPLIT_PREVIOUS: joins = match && !fold->before; break;
	case SPLIT_NEXT: joins = !match && fold->before; break;
	case SPLIT_CONTIGUOUS: joins = match == fold->before; break;
	}
	fold->before = match;
	if (joins && fold->text) {
		fold->length += length;
		return true;
	}
	if (!fold_end(fold))
		return false;
	fold->text = text;
	fold->length = length;
	return true;
}

bool
splitter_split(const struct splitter *splitter, enum split_behaviour behaviour,
    bool invert, const char *text, size_t length, splitter_piece *each, void *context)
{
	struct fold fold = {
		.behaviour = behaviour, .invert = invert, .each = each, .context = context
	};

	return splitter_parts(splitter, text, length, fold_part, &fold) &&
	       fold_end(&fold);
}
