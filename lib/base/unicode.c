#include "base/unicode.h"

#include <stddef.h>

#include "base/utf8.h"

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

/* Letters, numbers and their like that came after utf8proc's edition, 15. */
static const struct {
	int32_t first, last;
	unsigned traits;
} newer[] = {
	{ 0x897, 0x897, UTF8_WORD },
	{ 0x1c89, 0x1c8a, UTF8_LETTER | UTF8_WORD },
	{ 0xa7cb, 0xa7cd, UTF8_LETTER | UTF8_WORD },
	{ 0xa7da, 0xa7dc, UTF8_LETTER | UTF8_WORD },
	{ 0x105c0, 0x105f3, UTF8_LETTER | UTF8_WORD },
	{ 0x10d40, 0x10d49, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x10d4a, 0x10d65, UTF8_LETTER | UTF8_WORD },
	{ 0x10d69, 0x10d6d, UTF8_WORD },
	{ 0x10d6f, 0x10d85, UTF8_LETTER | UTF8_WORD },
	{ 0x10ec2, 0x10ec4, UTF8_LETTER | UTF8_WORD },
	{ 0x10efc, 0x10efc, UTF8_WORD },
	{ 0x11380, 0x11389, UTF8_LETTER | UTF8_WORD },
	{ 0x1138b, 0x1138b, UTF8_LETTER | UTF8_WORD },
	{ 0x1138e, 0x1138e, UTF8_LETTER | UTF8_WORD },
	{ 0x11390, 0x113b5, UTF8_LETTER | UTF8_WORD },
	{ 0x113b7, 0x113b7, UTF8_LETTER | UTF8_WORD },
	{ 0x113b8, 0x113c0, UTF8_WORD },
	{ 0x113c2, 0x113c2, UTF8_WORD },
	{ 0x113c5, 0x113c5, UTF8_WORD },
	{ 0x113c7, 0x113ca, UTF8_WORD },
	{ 0x113cc, 0x113d0, UTF8_WORD },
	{ 0x113d1, 0x113d1, UTF8_LETTER | UTF8_WORD },
	{ 0x113d2, 0x113d2, UTF8_WORD },
	{ 0x113d3, 0x113d3, UTF8_LETTER | UTF8_WORD },
	{ 0x113e1, 0x113e2, UTF8_WORD },
	{ 0x116d0, 0x116e3, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x11bc0, 0x11be0, UTF8_LETTER | UTF8_WORD },
	{ 0x11bf0, 0x11bf9, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x11de0, 0x11de9, UTF8_NUMERIC },
	{ 0x11f5a, 0x11f5a, UTF8_WORD },
	{ 0x13460, 0x143fa, UTF8_LETTER | UTF8_WORD },
	{ 0x16100, 0x1611d, UTF8_LETTER | UTF8_WORD },
	{ 0x1611e, 0x1612f, UTF8_WORD },
	{ 0x16130, 0x16139, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x16d40, 0x16d6c, UTF8_LETTER | UTF8_WORD },
	{ 0x16d70, 0x16d79, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x16ff4, 0x16ff6, UTF8_NUMERIC },
	{ 0x18cff, 0x18cff, UTF8_LETTER | UTF8_WORD },
	{ 0x1ccf0, 0x1ccf9, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x1e5d0, 0x1e5ed, UTF8_LETTER | UTF8_WORD },
	{ 0x1e5ee, 0x1e5ef, UTF8_WORD },
	{ 0x1e5f0, 0x1e5f0, UTF8_LETTER | UTF8_WORD },
	{ 0x1e5f1, 0x1e5fa, UTF8_NUMBER | UTF8_WORD | UTF8_NUMERIC },
	{ 0x2ebf0, 0x2ee5d, UTF8_LETTER | UTF8_WORD },
};

/* Marks that came after Unicode 9. */
static const int32_t marks[][2] = {
	{ 0x7fd, 0x7fd },
	{ 0x898, 0x8d3 },
	{ 0x9fe, 0x9fe },
	{ 0xafa, 0xaff },
	{ 0xb55, 0xb55 },
	{ 0xc04, 0xc3c },
	{ 0xcf3, 0xd00 },
	{ 0xd3b, 0xd3c },
	{ 0xd81, 0xd81 },
	{ 0xeba, 0xeba },
	{ 0xece, 0xece },
	{ 0x1715, 0x1715 },
	{ 0x180f, 0x180f },
	{ 0x1abf, 0x1ace },
	{ 0x1cf7, 0x1cf7 },
	{ 0x1df6, 0x1dfa },
	{ 0xa82c, 0xa82c },
	{ 0xa8ff, 0xa8ff },
	{ 0x10d24, 0x10f85 },
	{ 0x11070, 0x11074 },
	{ 0x110c2, 0x110c2 },
	{ 0x11145, 0x11146 },
	{ 0x111c9, 0x111c9 },
	{ 0x111ce, 0x111cf },
	{ 0x11241, 0x11241 },
	{ 0x1133b, 0x1133b },
	{ 0x1145e, 0x1145e },
	{ 0x1182c, 0x11a99 },
	{ 0x11d31, 0x13455 },
	{ 0x16f4f, 0x16f4f },
	{ 0x16f7f, 0x16f87 },
	{ 0x16fe4, 0x16ff1 },
	{ 0x1cf00, 0x1cf46 },
	{ 0x1e08f, 0x1e4ef },
};

/* Whether one of the `count` ascending ranges of `step` numbers each holds the code point. */
static bool
holds(const int32_t *range, size_t count, size_t step, int32_t code)
{
	size_t low = 0, high = count;

	if (code < range[0])
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (code > range[middle * step + 1])
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && code >= range[low * step];
}

bool
unicode_later(int32_t code)
{
	return holds(later[0], sizeof later / sizeof *later, 2, code);
}

bool
unicode_nine(int32_t code)
{
	return holds(nine[0], sizeof nine / sizeof *nine, 2, code);
}

bool
unicode_later_mark(int32_t code)
{
	return holds(marks[0], sizeof marks / sizeof *marks, 2, code);
}

int32_t
unicode_lower(int32_t code)
{
	if (code < lowered[0][0])
		return code;
	for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++)
		if (code >= lowered[i][0] && code <= lowered[i][1])
			return code + lowered[i][2];
	return code;
}

unsigned
unicode_newer(int32_t code)
{
	for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
		if (code >= newer[i].first && code <= newer[i].last)
			return newer[i].traits;
	return 0;
}
