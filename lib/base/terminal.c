#include "base/terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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
			if (code < 0 || utf8_is_harmful(code)) {
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

void
terminal_print(const char *text)
{
	char *plain = mem_string(text);

	utf8_plain(plain);
	fputs(plain, stdout);
	free(plain);
}

/* The first bytes of a character whose rest follows in the next write. */
struct guard {
	char begun[4];
	size_t count;
};

static bool
write_all(const char *bytes, size_t count)
{
	while (count) {
		ssize_t done = write(STDOUT_FILENO, bytes, count);
		if (done < 0 && errno != EINTR)
			return false;
		bytes += done > 0 ? done : 0;
		count -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

/* Whether the bytes are an incomplete character. */
static bool
is_begun(const char *text, size_t length)
{
	unsigned char first = (unsigned char)*text;

	return length < (first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1);
}

/* Cleans text[length], except an incomplete character at its end, which moves to `guard`; returns the bytes left. */
static size_t
make_plain(struct guard *guard, char *text, size_t length)
{
	char *to = text;
	int32_t code;

	guard->count = 0;
	for (size_t at = 0, bytes; at < length; at += bytes) {
		bytes = utf8_decode(text + at, length - at, &code);
		if (code < 0 && at + bytes == length && is_begun(text + at, bytes)) {
			memcpy(guard->begun, text + at, bytes);
			guard->count = bytes;
		} else if (code != '\n' && code != '\t' &&
			   (code < 0 || utf8_is_harmful(code))) {
			*to++ = '?';
		} else {
			memmove(to, text + at, bytes);
			to += bytes;
		}
	}
	return (size_t)(to - text);
}

static ssize_t
guarded_write(void *context, const char *bytes, size_t count)
{
	struct guard *guard = context;

	if (!isatty(STDOUT_FILENO))
		return write_all(bytes, count) ? (ssize_t)count : 0;
	size_t length = guard->count + count;
	char *text = mem_new(length, 1);
	memcpy(text, guard->begun, guard->count);
	memcpy(text + guard->count, bytes, count);
	bool done = write_all(text, make_plain(guard, text, length));
	free(text);
	return done ? (ssize_t)count : 0;
}

void
terminal_guard(void)
{
	if (!isatty(STDOUT_FILENO))
		return;
	FILE *guarded = fopencookie(mem_zero(1, sizeof(struct guard)), "w",
	    (cookie_io_functions_t){ .write = guarded_write });
	if (!guarded)
		return;
	setvbuf(guarded, NULL, _IOLBF, BUFSIZ);
	stdout = guarded;
}
