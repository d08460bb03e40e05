#include "added.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "utf8.h"

struct added {
	struct added_token *token; /* longest first */
	size_t count, capacity;
	bool starts[256]; /* whether a token begins with this byte */
	int only;	  /* the byte that all begin with; -1: several */
};

struct added *
added_new(void)
{
	return mem_zero(1, sizeof(struct added));
}

void
added_add(struct added *added, const struct added_token *token)
{
	size_t at = 0;

	if (!token->length)
		return;
	for (size_t i = 0; i < added->count; i++)
		if (added->token[i].length == token->length &&
		    !memcmp(added->token[i].text, token->text, token->length)) {
			char *text = added->token[i].text;
			added->token[i] = *token;
			added->token[i].text = text;
			return;
		}
	while (at < added->count && added->token[at].length >= token->length)
		at++;
	added->token = mem_grow(
	    added->token, &added->capacity, added->count + 1, sizeof *added->token);
	memmove(added->token + at + 1, added->token + at,
	    (added->count - at) * sizeof *added->token);
	added->token[at] = *token;
	added->token[at].text = mem_new(token->length, 1);
	memcpy(added->token[at].text, token->text, token->length);
	unsigned char first = (unsigned char)token->text[0];
	added->only = added->count++ == 0 || added->only == first ? first : -1;
	added->starts[first] = true;
}

bool
added_any(const struct added *added)
{
	return added->count > 0;
}

static const struct added_token *
match(const struct added *added, const char *text, size_t length)
{
	for (size_t i = 0; i < added->count; i++)
		if (added->token[i].length <= length &&
		    !memcmp(added->token[i].text, text, added->token[i].length))
			return &added->token[i];
	return NULL;
}

/* The code point that ends at `at`, and where it starts. */
static size_t
before(const char *text, size_t at, int32_t *code)
{
	size_t start = at - 1;

	while (start > 0 && ((unsigned char)text[start] & 0xC0) == 0x80)
		start--;
	utf8_decode(text + start, at - start, code);
	return start;
}

static bool
is_single(const char *text, size_t length, size_t start, size_t stop)
{
	int32_t code;

	if (start > 0) {
		before(text, start, &code);
		if (code >= 0 && utf8_traits(code) & UTF8_WORD)
			return false;
	}
	if (stop < length) {
		utf8_decode(text + stop, length - stop, &code);
		if (code >= 0 && utf8_traits(code) & UTF8_WORD)
			return false;
	}
	return true;
}

static size_t
strip_left(const char *text, size_t start, size_t least)
{
	int32_t code;

	while (start > least) {
		size_t at = before(text, start, &code);
		if (code < 0 || !(utf8_traits(code) & UTF8_SPACE))
			break;
		start = at;
	}
	return start > least ? start : least;
}

static size_t
strip_right(const char *text, size_t length, size_t stop)
{
	int32_t code;

	while (stop < length) {
		size_t bytes = utf8_decode(text + stop, length - stop, &code);
		if (code < 0 || !(utf8_traits(code) & UTF8_SPACE))
			break;
		stop += bytes;
	}
	return stop;
}

int32_t
added_find(const struct added *added, const char *text, size_t length, size_t from,
    size_t search, size_t *start, size_t *stop, size_t *resume)
{
	if (!added->count)
		return -1;
	while (search < length) {
		if (added->only >= 0) {
			const char *next =
			    memchr(text + search, added->only, length - search);
			if (!next)
				return -1;
			search = (size_t)(next - text);
		}
		const struct added_token *token = NULL;
		if (added->starts[(unsigned char)text[search]])
			token = match(added, text + search, length - search);
		if (!token) {
			search++;
			continue;
		}
		*start = search;
		search += token->length;
		*stop = *resume = search;
		if (token->single_word && !is_single(text, length, *start, *stop))
			continue;
		if (token->lstrip)
			*start = strip_left(text, *start, from);
		if (token->rstrip)
			*stop = strip_right(text, length, *stop);
		return token->id;
	}
	return -1;
}

void
added_free(struct added *added)
{
	for (size_t i = 0; i < added->count; i++)
		free(added->token[i].text);
	free(added->token);
	free(added);
}
