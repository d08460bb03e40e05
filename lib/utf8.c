#include "utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "err.h"
#include "mem.h"

/* Punctuation, marks and format characters that came after Unicode 8.0, with whatever is
 * neither of the three in between: the reference knows nothing of them. */
static const int32_t later[][2] = {
	{ 0x61d, 0x61d },
	{ 0x7fd, 0x7fd },
	{ 0x890, 0x8e2 },
	{ 0x9fd, 0x9fe },
	{ 0xa76, 0xa76 },
	{ 0xafa, 0xaff },
	{ 0xb55, 0xb55 },
	{ 0xc04, 0xc3c },
	{ 0xc77, 0xc77 },
	{ 0xc84, 0xc84 },
	{ 0xd00, 0xd00 },
	{ 0xd3b, 0xd3c },
	{ 0xd81, 0xd81 },
	{ 0xeba, 0xeba },
	{ 0xece, 0xece },
	{ 0x180f, 0x1886 },
	{ 0x1abf, 0x1ace },
	{ 0x1b7d, 0x1b7e },
	{ 0x1df6, 0x1dfb },
	{ 0x2e43, 0x2e5d },
	{ 0xa82c, 0xa82c },
	{ 0xa8c5, 0xa8c5 },
	{ 0xa8ff, 0xa8ff },
	{ 0xa9bd, 0xa9bd },
	{ 0x10d24, 0x10f89 },
	{ 0x11070, 0x11074 },
	{ 0x110c2, 0x110cd },
	{ 0x111cf, 0x111cf },
	{ 0x1123e, 0x11241 },
	{ 0x1133b, 0x1133b },
	{ 0x11438, 0x1145e },
	{ 0x11660, 0x1166c },
	{ 0x116b9, 0x116b9 },
	{ 0x1182f, 0x11fff },
	{ 0x12ff1, 0x13455 },
	{ 0x16e97, 0x16f4f },
	{ 0x16fe2, 0x16fe4 },
	{ 0x1cf00, 0x1cf46 },
	{ 0x1e000, 0x1e4ef },
	{ 0x1e944, 0x1e95f },
};

/* Non-starters among them that came with 9.0, whose combining classes the reference has. */
static const int32_t nine[][2] = {
	{ 0x8d4, 0x8e1 },
	{ 0x1dfb, 0x1dfb },
	{ 0x11442, 0x11442 },
	{ 0x11446, 0x11446 },
	{ 0x11c3f, 0x11c3f },
	{ 0x1e000, 0x1e02a },
	{ 0x1e944, 0x1e94a },
};

/* Lower case that came after utf8proc's edition: from, to, difference. */
static const int32_t lowered[][3] = {
	{ 0x1c89, 0x1c89, 1 },
	{ 0xa7cb, 0xa7cb, -42343 },
	{ 0xa7cc, 0xa7cc, 1 },
	{ 0xa7ce, 0xa7ce, 1 },
	{ 0xa7d2, 0xa7d2, 1 },
	{ 0xa7d4, 0xa7d4, 1 },
	{ 0xa7da, 0xa7da, 1 },
	{ 0xa7dc, 0xa7dc, -42561 },
	{ 0x10d50, 0x10d65, 32 },
	{ 0x16ea0, 0x16eb8, 27 },
};

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
	/* the second byte excludes overlong forms, surrogates and what is above 10FFFF */
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

size_t
utf8_valid(const char *text, size_t length)
{
	size_t at = 0;

	while (at < length) {
		uint64_t word;
		int32_t code;
		if (length - at >= sizeof word) {
			memcpy(&word, text + at, sizeof word);
			if (!(word & 0x8080808080808080u)) {
				at += sizeof word;
				continue;
			}
		}
		size_t bytes = utf8_decode(text + at, length - at, &code);
		if (code < 0)
			break;
		at += bytes;
	}
	return at;
}

size_t
utf8_repair(char *to, const char *text, size_t length, int64_t *count)
{
	size_t made = 0;

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

static bool
is_later(int32_t code)
{
	size_t low = 0, high = sizeof later / sizeof *later;

	if (code < later[0][0])
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (code > later[middle][1])
			low = middle + 1;
		else
			high = middle;
	}
	return low < sizeof later / sizeof *later && code >= later[low][0];
}

static unsigned
ascii_traits(int32_t code)
{
	if ((code >= '\t' && code <= '\r') || code == ' ')
		return UTF8_SPACE | (code == ' ' ? 0 : UTF8_CONTROL);
	if (code < ' ' || code == 0x7F)
		return UTF8_CONTROL;
	if (code >= '0' && code <= '9')
		return UTF8_NUMBER | UTF8_WORD;
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

unsigned
utf8_traits(int32_t code)
{
	if (code < 0x80)
		return ascii_traits(code);
	utf8proc_category_t category = utf8proc_category(code);
	unsigned known = is_later(code) ? 0 : ~0u;
	switch (category) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO: return UTF8_LETTER | UTF8_WORD;
	case UTF8PROC_CATEGORY_MN:
		return (code == 0x111c9 ? UTF8_PUNCT : known & UTF8_MARK) | UTF8_WORD;
	case UTF8PROC_CATEGORY_MC: return (code == 0x1734 ? UTF8_MARK : 0) | UTF8_WORD;
	case UTF8PROC_CATEGORY_ME: return UTF8_WORD;
	case UTF8PROC_CATEGORY_ND:
	case UTF8PROC_CATEGORY_NL: return UTF8_NUMBER | UTF8_WORD;
	case UTF8PROC_CATEGORY_NO: return UTF8_NUMBER;
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
	if (!is_later(code))
		return class;
	for (size_t i = 0; i < sizeof nine / sizeof *nine; i++)
		if (code >= nine[i][0] && code <= nine[i][1])
			return class;
	return 0;
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
		return 1; /* none, or only of compatibility */
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
	if (code == 0x130) { /* the one whose lower case is two */
		to[0] = 'i';
		to[1] = 0x307;
		return 2;
	}
	to[0] = utf8proc_tolower(code);
	if (code >= lowered[0][0] && to[0] == code)
		for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++)
			if (code >= lowered[i][0] && code <= lowered[i][1])
				to[0] = code + lowered[i][2];
	return 1;
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

char *
utf8_normal(const char *text, size_t length, bool composed, size_t *made)
{
	utf8proc_uint8_t *result;
	utf8proc_ssize_t bytes = utf8proc_map((const utf8proc_uint8_t *)text,
	    (utf8proc_ssize_t)length, &result,
	    UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE));

	if (bytes < 0)
		die("a text of %zu bytes cannot be normalised: %s", length,
		    utf8proc_errmsg(bytes));
	*made = (size_t)bytes;
	return (char *)result;
}
