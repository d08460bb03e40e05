#include "token/charsmap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/utf8.h"

static const char KEY[] = "precompiled_charsmap";
enum { CLUSTER = 6 }; /* longer clusters are not looked up */

struct charsmap {
	uint32_t *unit;
	size_t units;
	char *text;	 /* ends with a NUL */
	bool plain[128]; /* ASCII characters without an entry */
};

/* Reading. ----------------------------------------------------------------------------- */

/* Decodes padded base64; to be freed; NULL: malformed. */
static unsigned char *
decode(const char *text, size_t length, size_t *made)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	int8_t value[256];
	size_t padding = 0;

	memset(value, -1, sizeof value);
	for (int i = 0; i < 64; i++)
		value[(unsigned char)digits[i]] = (int8_t)i;
	while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
		padding++;
	if (length % 4)
		return NULL;
	unsigned char *bytes = mem_new(length / 4 * 3 + 1, 1);
	*made = 0;
	for (size_t i = 0; i < length; i += 4) {
		uint32_t four = 0;
		for (size_t j = i; j < i + 4; j++) {
			int digit = value[(unsigned char)text[j]];
			if (digit < 0 && j < length - padding) {
				free(bytes);
				return NULL;
			}
			four = four << 6 | (uint32_t)(digit < 0 ? 0 : digit);
		}
		bytes[(*made)++] = (unsigned char)(four >> 16);
		bytes[(*made)++] = (unsigned char)(four >> 8);
		bytes[(*made)++] = (unsigned char)four;
	}
	*made -= padding;
	return bytes;
}

static size_t
offset(uint32_t unit)
{
	return (size_t)(unit >> 10) << ((unit & 512) >> 6);
}

/* Whether all lookups stay inside the array and all values are offsets of replacements. */
static bool
is_sound(const struct charsmap *charsmap, size_t length)
{
	for (size_t i = 0; i < charsmap->units; i++) {
		uint32_t unit = charsmap->unit[i];
		size_t next = i ^ offset(unit);
		if (unit >> 31) {
			size_t at = unit & 0x7FFFFFFF;
			if (at >= length || (charsmap->text[at] & 0xC0) == 0x80)
				return false;
		} else if ((next | 255) >= charsmap->units ||
			   (unit >> 8 & 1 && !(charsmap->unit[next] >> 31))) {
			return false;
		}
	}
	return charsmap->units > 0;
}

/* The replacement of the shortest prefix with an entry, or NULL. */
static const char *
shortest(const struct charsmap *charsmap, const char *text, size_t length)
{
	size_t at = offset(charsmap->unit[0]);

	for (size_t i = 0; i < length && text[i]; i++) {
		unsigned char byte = (unsigned char)text[i];
		at ^= byte;
		uint32_t unit = charsmap->unit[at];
		if ((unit & 0x800000FF) != byte)
			return NULL;
		at ^= offset(unit);
		if (unit >> 8 & 1)
			return charsmap->text + (charsmap->unit[at] & 0x7FFFFFFF);
	}
	return NULL;
}

struct charsmap *
charsmap_new(const struct tree *node)
{
	struct charsmap *charsmap = mem_zero(1, sizeof *charsmap);
	const struct tree *text = tree_need(node, KEY);
	size_t length = 0, size = 0;

	if (text->kind != TREE_STRING)
		tree_die(node, "normalizer: '%s' must be a string", KEY);
	unsigned char *bytes = decode(text->string, text->length, &length);
	if (!bytes)
		tree_die(node, "normalizer: '%s' is not Base64", KEY);
	for (int i = 3; i >= 0 && length >= 4; i--)
		size = size << 8 | bytes[i];
	if (length < 4 || size % 4 || size > length - 4)
		tree_die(
		    node, "normalizer: '%s' is damaged: it has %zu bytes", KEY, length);
	charsmap->units = size / 4;
	charsmap->unit = mem_new(charsmap->units + 1, sizeof *charsmap->unit);
	for (size_t i = 0; i < charsmap->units; i++) {
		const unsigned char *at = bytes + 4 + 4 * i;
		charsmap->unit[i] = (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 |
				    (uint32_t)at[1] << 8 | at[0];
	}
	length -= 4 + size;
	charsmap->text = mem_zero(length + 1, 1);
	memcpy(charsmap->text, bytes + 4 + size, length);
	free(bytes);
	if (utf8_valid(charsmap->text, length) != length || !is_sound(charsmap, length))
		tree_die(
		    node, "normalizer: '%s' is damaged: it leads out of itself", KEY);
	for (int c = 0; c < 128; c++)
		charsmap->plain[c] =
		    c != '\r' && !shortest(charsmap, &(char){ (char)c }, 1);
	return charsmap;
}

/* Which characters stand for the input's first. ----------------------------------------- */

/* The reference's alignment.  A character made stands for the next character of the text; those beyond the number
 * replaced stand for the one before.  If fewer are made than replaced, the difference is skipped after the last
 * character made, even if an earlier replacement made it. */
struct trace {
	size_t wanted; /* characters of the text that stand for the input's first */
	size_t passed; /* of the text */
	bool any;      /* a last one, which is not settled yet: */
	ptrdiff_t
	    more; /* above 0: it stands for the one before, else so many fewer are passed over */
	size_t bytes;
	size_t lead; /* bytes made that stand for the input's first */
	bool ended;
};

static void
trace_settle(struct trace *trace)
{
	if (!trace->any || trace->ended)
		return;
	size_t of = trace->passed - (trace->more > 0 && trace->passed > 0);
	if (of < trace->wanted)
		trace->lead += trace->bytes;
	else
		trace->ended = true;
	if (trace->more <= 0)
		trace->passed += (size_t)(1 - trace->more);
}

/* Records that `from` characters were replaced by `to`. */
static void
trace_replace(struct trace *trace, const char *from, size_t from_length, const char *to,
    size_t to_length)
{
	size_t old = utf8_count(from, from_length), made = 0;
	int32_t code;

	for (size_t at = 0; at < to_length && !trace->ended; made++) {
		trace_settle(trace);
		trace->any = true;
		trace->more = made >= old;
		trace->bytes = utf8_decode(to + at, to_length - at, &code);
		at += trace->bytes;
	}
	if (made < old)
		trace->more -= (ptrdiff_t)(old - made);
}

/* Applying. ---------------------------------------------------------------------------- */

struct apply {
	const struct charsmap *charsmap;
	const char *text;
	size_t done; /* bytes copied so far */
	struct buffer made;
	struct trace trace;
};

/* Replaces a part of the text; false if it has no entry. */
static bool
replace(struct apply *apply, size_t start, size_t end)
{
	const char *text = apply->text, *to;

	if (!(to = shortest(apply->charsmap, text + start, end - start)))
		return false;
	size_t length = strlen(to);
	buffer_add(&apply->made, text + apply->done, start - apply->done);
	buffer_add(&apply->made, to, length);
	apply->done = end;
	trace_replace(&apply->trace, text + start, end - start, to, length);
	return true;
}

static void
apply_cluster(struct apply *apply, size_t start, size_t end)
{
	int32_t code;

	if (end - start < CLUSTER && replace(apply, start, end))
		return;
	for (size_t bytes; start < end; start += bytes) {
		const char *at = apply->text + start;
		bytes = utf8_decode(at, end - start, &code);
		if (!replace(apply, start, start + bytes))
			trace_replace(&apply->trace, at, bytes, at, bytes);
	}
}

/* The end of the run of unchanged ASCII that starts at `at`. */
static size_t
plain_end(const struct charsmap *charsmap, const char *text, size_t length, size_t at)
{
	const unsigned char *byte = (const unsigned char *)text;

	while (at < length && byte[at] < 128 && charsmap->plain[byte[at]] &&
	       (at + 1 == length || byte[at + 1] < 128))
		at++;
	return at;
}

char *
charsmap_apply(const struct charsmap *charsmap, const char *text, size_t length,
    size_t most, size_t *made, size_t *lead)
{
	struct apply apply = { .charsmap = charsmap, .text = text };

	apply.trace.wanted = utf8_count(text, *lead);
	apply.trace.ended = !apply.trace.wanted;
	for (size_t at = 0, end; at < length && apply.made.used <= most; at = end) {
		end = apply.trace.ended ? plain_end(charsmap, text, length, at) : at;
		if (end > at)
			continue;
		end = utf8_cluster_end(text, length, at);
		apply_cluster(&apply, at, end);
	}
	trace_settle(&apply.trace);
	*lead = apply.trace.lead;
	if (!apply.made.data) {
		*made = length;
		return NULL;
	}
	buffer_add(&apply.made, text + apply.done, length - apply.done);
	buffer_add(&apply.made, "", 1);
	*made = apply.made.used - 1;
	return apply.made.data;
}

void
charsmap_free(struct charsmap *charsmap)
{
	free(charsmap->unit);
	free(charsmap->text);
	free(charsmap);
}
