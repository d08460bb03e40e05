#include "base/utf8.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unicode.h"

size_t
utf8_decode(const char *text, size_t length, int32_t *code)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t need = byte[0] < 0x80   ? 1
		      : byte[0] < 0xC2 ? 0
		      : byte[0] < 0xE0 ? 2
		      : byte[0] < 0xF0 ? 3
		      : byte[0] < 0xF5 ? 4
				       : 0;

	*code = byte[0];
	if (need == 1)
		return 1;
	*code = -1;
	if (need == 0)
		return 1;
	/* the second byte excludes overlong forms, surrogates and code points above 10FFFF */
	unsigned char low = byte[0] == 0xE0 ? 0xA0 : byte[0] == 0xF0 ? 0x90 : 0x80;
	unsigned char high = byte[0] == 0xED ? 0x9F : byte[0] == 0xF4 ? 0x8F : 0xBF;
	int32_t value = byte[0] & (0x7F >> need);
	for (size_t i = 1; i < need; i++) {
		if (i == length || byte[i] < low || byte[i] > high)
			return i;
		value = value << 6 | (byte[i] & 0x3F);
		low = 0x80;
		high = 0xBF;
	}
	*code = value;
	return need;
}

size_t
utf8_before(const char *text, size_t at, int32_t *code)
{
	size_t start = at - 1;

	while (start > 0 && ((unsigned char)text[start] & 0xC0) == 0x80)
		start--;
	utf8_decode(text + start, at - start, code);
	return start;
}

size_t
utf8_space_end(const char *text, size_t length, size_t at)
{
	int32_t code;

	for (size_t bytes; at < length; at += bytes) {
		bytes = utf8_decode(text + at, length - at, &code);
		if (code < 0 || !(utf8_traits(code) & UTF8_SPACE))
			break;
	}
	return at;
}

size_t
utf8_space_start(const char *text, size_t at, size_t least)
{
	int32_t code;

	while (at > least) {
		size_t start = utf8_before(text, at, &code);
		if (start < least || code < 0 || !(utf8_traits(code) & UTF8_SPACE))
			break;
		at = start;
	}
	return at;
}

size_t
utf8_encode(int32_t code, char *to)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xC0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xE0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3F));
		to[2] = (char)(0x80 | (code & 0x3F));
		return 3;
	}
	to[0] = (char)(0xF0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3F));
	to[2] = (char)(0x80 | (code >> 6 & 0x3F));
	to[3] = (char)(0x80 | (code & 0x3F));
	return 4;
}

/* The length of a valid character of two or three bytes, or 0. */
static inline size_t
common_bytes(const unsigned char *byte, size_t length)
{
	if (byte[0] >= 0xC2 && byte[0] < 0xE0)
		return length >= 2 && byte[1] >> 6 == 2 ? 2 : 0;
	if (byte[0] < 0xE0 || byte[0] >= 0xF0 || length < 3)
		return 0;
	bool sound = byte[1] >> 6 == 2 && byte[2] >> 6 == 2 &&
		     (byte[0] != 0xE0 || byte[1] >= 0xA0) &&
		     (byte[0] != 0xED || byte[1] < 0xA0);
	return sound ? 3 : 0;
}

size_t
utf8_valid(const char *text, size_t length)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t at = 0;

	while (at < length) {
		uint64_t word;
		int32_t code;
		for (; length - at >= sizeof word; at += sizeof word) {
			memcpy(&word, text + at, sizeof word);
			if (word & 0x8080808080808080u)
				break;
		}
		size_t left = length - at;
		if (left < sizeof word && length >= sizeof word) {
			/* the last bytes, together with some before them */
			memcpy(&word, text + length - sizeof word, sizeof word);
			word = left ? le64toh(word) >> 8 * (sizeof word - left) : 0;
			if (!(word & 0x8080808080808080u))
				return length;
		}
		size_t bytes = byte[at] < 0x80 ? 1 : common_bytes(byte + at, length - at);
		if (!bytes) {
			bytes = utf8_decode(text + at, length - at, &code);
			if (code < 0)
				break;
		}
		at += bytes;
	}
	return at;
}

size_t
utf8_repair(char *to, const char *text, size_t length, int64_t *count)
{
	size_t made = 0;

	if (!length) /* text may be NULL */
		return 0;
	for (;;) {
		size_t good = utf8_valid(text, length);
		int32_t code;
		memcpy(to + made, text, good);
		made += good;
		text += good;
		length -= good;
		if (!length)
			return made;
		size_t bad = utf8_decode(text, length, &code);
		text += bad;
		length -= bad;
		made += utf8_encode(UTF8_REPLACEMENT, to + made);
		++*count;
	}
}

char *
utf8_repaired(const char *text, size_t length, size_t *made)
{
	*made = length;
	if (utf8_valid(text, length) == length)
		return NULL;
	char *repaired = mem_new(mem_multiply(length, 3, "a text"), 1);
	*made = utf8_repair(repaired, text, length, &(int64_t){ 0 });
	return repaired;
}

size_t
utf8_count(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xC0) != 0x80;
	return count;
}

static unsigned
ascii_traits(int32_t code)
{
	if ((code >= '\t' && code <= '\r') || code == ' ')
		return UTF8_SPACE | (code == ' ' ? 0 : UTF8_CONTROL);
	if (code < ' ' || code == 0x7F)
		return UTF8_CONTROL;
	if (code >= '0' && code <= '9')
		return UTF8_NUMBER | UTF8_NUMERIC | UTF8_WORD;
	if ((code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z'))
		return UTF8_LETTER | UTF8_WORD;
	return UTF8_PUNCT | (code == '_' ? UTF8_WORD : 0);
}

/* Symbols that are letters by Other_Alphabetic. */
static bool
is_circled(int32_t code)
{
	return (code >= 0x24B6 && code <= 0x24E9) ||
	       (code >= 0x1F130 && code <= 0x1F149) ||
	       (code >= 0x1F150 && code <= 0x1F169) ||
	       (code >= 0x1F170 && code <= 0x1F189);
}

static unsigned
mark(int32_t code)
{
	return UTF8_WORD | (unicode_later_mark(code) ? 0 : UTF8_COMBINING);
}

bool
utf8_is_harmful(int32_t code)
{
	return (code >= 0 && code < 32) || (code >= 127 && code < 160) ||
	       (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

void
utf8_plain(char *text)
{
	char *to = text, *end = text + strlen(text);
	int32_t code;

	for (size_t bytes; text < end; text += bytes) {
		bytes = utf8_decode(text, (size_t)(end - text), &code);
		if (code < 0 || utf8_is_harmful(code)) {
			*to++ = '?';
		} else {
			memmove(to, text, bytes);
			to += bytes;
		}
	}
	*to = 0;
}

int
utf8_columns(int32_t code)
{
	return code < 0x80 ? code >= 32 : utf8proc_charwidth(code);
}

bool
utf8_is_ideograph(int32_t code)
{
	return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
	       (code >= 0x20000 && code <= 0x2A6DF) ||
	       (code >= 0x2A700 && code <= 0x2B73F) ||
	       (code >= 0x2B740 && code <= 0x2B81F) ||
	       (code >= 0x2B920 && code <= 0x2CEAF) ||
	       (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

unsigned
utf8_traits(int32_t code)
{
	if (code < 0x80)
		return ascii_traits(code);
	utf8proc_category_t category = utf8proc_category(code);
	unsigned known = unicode_later(code) ? 0 : ~0u;
	switch (category) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
		return UTF8_LETTER | UTF8_WORD |
		       (code == 0x1CF2 || code == 0x1CF3 ? UTF8_COMBINING : 0);
	case UTF8PROC_CATEGORY_MN:
		return (code == 0x111c9 ? UTF8_PUNCT : known & UTF8_MARK) | mark(code);
	case UTF8PROC_CATEGORY_MC: return (code == 0x1734 ? UTF8_MARK : 0) | mark(code);
	case UTF8PROC_CATEGORY_ME: return mark(code);
	case UTF8PROC_CATEGORY_ND:
	case UTF8PROC_CATEGORY_NL: return UTF8_NUMBER | UTF8_NUMERIC | UTF8_WORD;
	case UTF8PROC_CATEGORY_NO: return UTF8_NUMBER | UTF8_NUMERIC;
	case UTF8PROC_CATEGORY_PC: return (known & UTF8_PUNCT) | UTF8_WORD;
	case UTF8PROC_CATEGORY_PD:
	case UTF8PROC_CATEGORY_PS:
	case UTF8PROC_CATEGORY_PE:
	case UTF8PROC_CATEGORY_PI:
	case UTF8PROC_CATEGORY_PF:
	case UTF8PROC_CATEGORY_PO: return known & UTF8_PUNCT;
	case UTF8PROC_CATEGORY_ZS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP: return UTF8_SPACE;
	case UTF8PROC_CATEGORY_CC: return UTF8_CONTROL | (code == 0x85 ? UTF8_SPACE : 0);
	case UTF8PROC_CATEGORY_CF:
		return (known & UTF8_CONTROL) |
		       (code == 0x200C || code == 0x200D ? UTF8_WORD : 0);
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CS: return UTF8_CONTROL;
	case UTF8PROC_CATEGORY_SO:
		return code == 0x166D ? UTF8_PUNCT : is_circled(code) ? UTF8_WORD : 0;
	case UTF8PROC_CATEGORY_CN: return unicode_newer(code);
	default: return 0;
	}
}

int
utf8_combining(int32_t code)
{
	if (code < 0x300)
		return 0;
	int class = utf8proc_get_property(code)->combining_class;
	if (!class || code == 0x1715 || code == 0x16ff0 || code == 0x16ff1)
		return 0;
	if (!unicode_later(code))
		return class;
	return unicode_nine(code) ? class : 0;
}

int
utf8_decompose(int32_t code, int32_t to[UTF8_DECOMPOSED])
{
	to[0] = code;
	if (code < 0xC0 || code == 0x11938)
		return 1;
	if (code >= 0xAC00 && code <= 0xD7A3) {
		int32_t index = code - 0xAC00;
		to[0] = 0x1100 + index / 588;
		to[1] = 0x1161 + index % 588 / 28;
		to[2] = 0x11A7 + index % 28;
		return index % 28 ? 3 : 2;
	}
	const utf8proc_property_t *property = utf8proc_get_property(code);
	if (property->decomp_seqindex == UINT16_MAX || property->decomp_type)
		return 1; /* no decomposition, or a compatibility one */
	int boundary;
	return (int)utf8proc_decompose_char(
	    code, to, UTF8_DECOMPOSED, UTF8PROC_DECOMPOSE, &boundary);
}

int
utf8_lower(int32_t code, int32_t to[2])
{
	to[0] = code;
	if (code < 0x80) {
		to[0] += code >= 'A' && code <= 'Z' ? 'a' - 'A' : 0;
		return 1;
	}
	if (code == 0x130) { /* the only one whose lower case is two code points */
		to[0] = 'i';
		to[1] = 0x307;
		return 2;
	}
	to[0] = utf8proc_tolower(code);
	if (to[0] == code)
		to[0] = unicode_lower(code);
	return 1;
}

size_t
utf8_cluster_end(const char *text, size_t length, size_t at)
{
	bool consonant = false, linked = false; /* rule GB9c, which utf8proc 2.8 lacks */
	int32_t state = 0, code, next;

	at += utf8_decode(text + at, length - at, &code);
	for (size_t bytes; at < length; at += bytes, code = next) {
		bytes = utf8_decode(text + at, length - at, &next);
		if (next < 0x80 && code < 0x300 && code != '\r')
			break;
		linked |= consonant && unicode_linker(code);
		if (unicode_consonant(code)) {
			consonant = true;
			linked = false;
		}
		bool breaks = utf8proc_grapheme_break_stateful(
		    unicode_cluster_like(code), unicode_cluster_like(next), &state);
		if (breaks && !(linked && unicode_consonant(next)))
			break;
	}
	return at;
}

void
utf8_order(int32_t *run, int32_t *scratch, size_t count)
{
	size_t start[257] = { 0 };

	if (count < 2)
		return;
	for (size_t i = 0; i < count; i++)
		start[utf8_combining(run[i]) + 1]++;
	for (int class = 0; class < 256; class ++)
		start[class + 1] += start[class];
	for (size_t i = 0; i < count; i++)
		scratch[start[utf8_combining(run[i])]++] = run[i];
	memcpy(run, scratch, count * sizeof *run);
}

/* Compatibility decompositions newer than Unicode 9. */
static bool
is_later_compatible(int32_t code)
{
	return code == 0x32FF || (code >= 0xA7F2 && code <= 0xA7F4) || code == 0xAB69 ||
	       (code >= 0x10781 && code <= 0x107BA) || code == 0x1F16C ||
	       (code >= 0x1E030 && code <= 0x1E06D) ||
	       (code >= 0x1FBF0 && code <= 0x1FBF9);
}

static int
decompose(int32_t code, bool compatible, int32_t to[UTF8_COMPATIBLE])
{
	int boundary;

	if (!compatible || code < 0xA0 ||
	    utf8proc_get_property(code)->decomp_seqindex == UINT16_MAX ||
	    code == 0x11938 || is_later_compatible(code))
		return utf8_decompose(code, to);
	return (int)utf8proc_decompose_char(
	    code, to, UTF8_COMPATIBLE, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, &boundary);
}

/* The primary composite of two code points, or -1. */
static int32_t
compose(int32_t a, int32_t b)
{
	if (b < 0x300 || (b > 0x1B35 && b != 0x3099 && b != 0x309A && b < 0x110BA))
		return -1;
	if (a >= 0x1100 && a < 0x1113 && b >= 0x1161 && b < 0x1176)
		return 0xAC00 + (a - 0x1100) * 588 + (b - 0x1161) * 28;
	if (b >= 0x11A7 && b < 0x11C3)
		return b > 0x11A7 && a >= 0xAC00 && a < 0xD7A4 && (a - 0xAC00) % 28 == 0
			   ? a + b - 0x11A7
			   : -1;
	if (b == 0x11930)
		return -1; /* newer than Unicode 9 */
	int32_t pair[2] = { a, b };
	return utf8proc_normalize_utf32(pair, 2, UTF8PROC_STABLE | UTF8PROC_COMPOSE) == 1
		   ? pair[0]
		   : -1;
}

/* A text being normalised: text[made] is final, `run` is the current starter and its marks. */
struct normal {
	char *text;
	size_t made, capacity;
	int32_t *run, *scratch; /* code points, the starter first */
	size_t count, run_capacity, scratch_capacity;
	bool starter, composed, compatible;
};

static void
normal_emit(struct normal *normal, const int32_t *code, size_t count)
{
	normal->text =
	    mem_grow(normal->text, &normal->capacity, normal->made + 4 * count, 1);
	for (size_t i = 0; i < count; i++)
		normal->made += utf8_encode(code[i], normal->text + normal->made);
}

/* Orders the marks and composes those that are not blocked (Unicode Standard, definition D117). */
static void
normal_settle(struct normal *normal)
{
	size_t first = normal->starter, kept = first;
	int last = 0;

	if (normal->count > first + 1) {
		normal->scratch = mem_grow(normal->scratch, &normal->scratch_capacity,
		    normal->count, sizeof *normal->scratch);
		utf8_order(normal->run + first, normal->scratch, normal->count - first);
	}
	if (!normal->composed || !normal->starter)
		return;
	for (size_t i = first; i < normal->count; i++) {
		int32_t code = normal->run[i], made = -1;
		int class = utf8_combining(code);
		if (class > last)
			made = compose(normal->run[0], code);
		if (made >= 0) {
			normal->run[0] = made;
			continue;
		}
		last = class;
		normal->run[kept++] = code;
	}
	normal->count = kept;
}

static void
normal_flush(struct normal *normal)
{
	normal_settle(normal);
	normal_emit(normal, normal->run, normal->count);
	normal->count = 0;
	normal->starter = false;
}

static void
normal_add(struct normal *normal, int32_t code)
{
	bool starter = !utf8_combining(code);
	int32_t made = -1;

	if (starter && normal->count) {
		normal_settle(normal);
		if (normal->composed && normal->starter && normal->count == 1)
			made = compose(normal->run[0], code);
		if (made >= 0) {
			normal->run[0] = made;
			return;
		}
		normal_emit(normal, normal->run, normal->count);
		normal->count = 0;
	}
	normal->starter |= starter;
	normal->run = mem_grow(
	    normal->run, &normal->run_capacity, normal->count + 1, sizeof *normal->run);
	normal->run[normal->count++] = code;
}

bool
utf8_is_normal(const char *text, size_t length, enum utf8_form form)
{
	/* all below U+0300 is in NFC, all of ASCII in every form */
	unsigned char least = form == UTF8_NFC ? 0xCC : 0x80;

	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= least)
			return false;
	return true;
}

char *
utf8_normal(const char *text, size_t length, enum utf8_form form, size_t *made)
{
	struct normal normal = { .composed = form == UTF8_NFC || form == UTF8_NFKC,
		.compatible = form == UTF8_NFKC || form == UTF8_NFKD };
	const char *at = text, *end = text + length;

	normal.text = mem_grow(NULL, &normal.capacity, length + 1, 1);
	while (at < end) {
		int32_t code, part[UTF8_COMPATIBLE];
		const char *plain = at;
		while (at < end && (unsigned char)*at < 0x80)
			at++;
		if (at - plain > 1) { /* a mark may follow the last one */
			size_t bytes = (size_t)(at - plain) - 1;
			normal_flush(&normal);
			normal.text = mem_grow(
			    normal.text, &normal.capacity, normal.made + bytes, 1);
			memcpy(normal.text + normal.made, plain, bytes);
			normal.made += bytes;
		}
		if (at > plain)
			normal_add(&normal, at[-1]);
		if (at == end)
			break;
		at += utf8_decode(at, (size_t)(end - at), &code);
		int count = decompose(
		    code < 0 ? UTF8_REPLACEMENT : code, normal.compatible, part);
		for (int i = 0; i < count; i++)
			normal_add(&normal, part[i]);
	}
	normal_flush(&normal);
	free(normal.run);
	free(normal.scratch);
	*made = normal.made;
	return normal.text;
}
