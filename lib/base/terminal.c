#include "base/terminal.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { USUAL_WIDTH = 80 };
static const char ellipsis[] = "\xe2\x80\xa6";

int
terminal_width(int descriptor)
{
	struct winsize size;

	if (!isatty(descriptor))
		return 0;
	if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return USUAL_WIDTH;
	return size.ws_col;
}

/* Whether it drives the terminal, or turns what stands around it. */
static bool
is_harmful(int32_t code)
{
	return code < 32 || (code >= 127 && code < 160) ||
	       (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

char *
terminal_line(const char *bytes, size_t length, int width)
{
	char *line = mem_new(mem_add(length, sizeof ellipsis, "text"), 1), *to = line,
	     *cut = line;
	int columns = 0;
	int32_t code;

	for (size_t at = 0; at < length;) {
		size_t space = utf8_space_end(bytes, length, at);
		const char *from = bytes + at;
		size_t count = utf8_decode(from, length - at, &code);
		if (space > at) {
			at = space;
			if (to == line || space == length)
				continue;
			from = " ";
			count = 1;
			code = ' ';
		} else {
			at += count;
			if (is_harmful(code)) {
				from = "?";
				count = 1;
				code = '?';
			}
		}
		columns += utf8_columns(code);
		if (width && columns > width) {
			memcpy(cut, ellipsis, sizeof ellipsis);
			return line;
		}
		memcpy(to, from, count);
		to += count;
		if (columns < width)
			cut = to;
	}
	*to = 0;
	return line;
}

int
terminal_columns(const char *line)
{
	size_t length = strlen(line);
	int columns = 0;
	int32_t code;

	for (size_t at = 0; at < length;) {
		at += utf8_decode(line + at, length - at, &code);
		columns += utf8_columns(code);
	}
	return columns;
}
