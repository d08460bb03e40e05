#include "text/json_string.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static bool
hex4(const char *text, const char *end, int32_t *code)
{
	if (end - text < 4)
		return false;
	*code = 0;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *digit =
		    memchr(digits, text[i] | (text[i] >= 'A' ? 0x20 : 0), 16);
		if (!digit)
			return false;
		*code = *code << 4 | (int32_t)(digit - digits);
	}
	return true;
}

ptrdiff_t
json_string_unescape(char *to, const char *text, size_t length)
{
	const char *end = text + length;
	char *start = to;

	while (text < end) {
		static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
		const char *which;
		int32_t code, low;
		if (*text != '\\') {
			*to++ = *text++;
		} else if (text[1] != 'u') {
			if (!(which = memchr(from, text[1], sizeof from - 1)))
				return -1;
			*to++ = into[which - from];
			text += 2;
		} else {
			if (!hex4(text + 2, end, &code))
				return -1;
			text += 6;
			if (code >= 0xD800 && code < 0xDC00) {
				if (end - text < 6 || text[0] != '\\' || text[1] != 'u' ||
				    !hex4(text + 2, end, &low) || low < 0xDC00 ||
				    low > 0xDFFF)
					return -1;
				code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
				text += 6;
			} else if (code >= 0xDC00 && code < 0xE000) {
				return -1;
			}
			to += utf8_encode(code, to);
		}
	}
	return to - start;
}
