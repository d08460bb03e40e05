#include "text/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct line {
	const char *text; /* without the blanks around it */
	size_t length;
};

struct outline_scan {
	struct outline *outline;
	bool rst;
	bool heading; /* the last line that is not blank is a heading */
	int lines;    /* lines of the current paragraph; 0: none */
	bool ruled;   /* its first line is a rule of signs */
	char fence;   /* sign of the open code fence; 0: none */
	size_t fence_length;
};

static struct line
strip(const char *text, size_t length)
{
	while (length && strchr(" \t\r", *text) && *text) {
		text++;
		length--;
	}
	while (length && text[length - 1] && strchr(" \t\r", text[length - 1]))
		length--;
	return (struct line){ text, length };
}

static size_t
run_length(struct line line, char sign)
{
	size_t count = 0;

	while (count < line.length && line.text[count] == sign)
		count++;
	return count;
}

static bool
is_rule(const struct outline_scan *scan, struct line line)
{
	return line.length >= 3 && *line.text &&
	       strchr(scan->rst ? "=-~^\"'`*+#:._<>" : "=-", *line.text) &&
	       run_length(line, *line.text) == line.length;
}

/* Whether a line is a heading of Markdown: one to six #, then a blank or the end. */
static bool
is_heading(struct line line)
{
	size_t depth = run_length(line, '#');

	return depth >= 1 && depth <= 6 &&
	       (depth == line.length || line.text[depth] == ' ' ||
		   line.text[depth] == '\t');
}

/* Number of signs that open a code fence; 0: none. */
static size_t
fence_of(struct line line)
{
	size_t count;

	if (!line.length || (*line.text != '`' && *line.text != '~'))
		return 0;
	count = run_length(line, *line.text);
	if (count < 3 ||
	    (*line.text == '`' && memchr(line.text + count, '`', line.length - count)))
		return 0;
	return count;
}

static void
add(struct outline_scan *scan, size_t at, enum outline_kind kind)
{
	struct outline *outline = scan->outline;

	outline->marks = mem_grow(outline->marks, &outline->capacity, outline->count + 1,
	    sizeof *outline->marks);
	outline->marks[outline->count++] =
	    (struct outline_mark){ at, kind, scan->heading };
	scan->heading = kind == OUTLINE_SECTION;
	scan->lines = 0;
}

/* The current paragraph is a heading: it was underlined. */
static void
underline(struct outline_scan *scan)
{
	scan->outline->marks[scan->outline->count - 1].kind = OUTLINE_SECTION;
	scan->heading = true;
	scan->lines = 0;
}

static void
read_line(struct outline_scan *scan, size_t at, struct line line)
{
	size_t fence = scan->rst ? 0 : fence_of(line);

	if (scan->fence) {
		if (run_length(line, scan->fence) == line.length &&
		    line.length >= scan->fence_length)
			scan->fence = 0;
	} else if (!line.length) {
		scan->lines = 0;
	} else if (fence) {
		add(scan, at, OUTLINE_CODE);
		scan->fence = *line.text;
		scan->fence_length = fence;
	} else if (!scan->rst && is_heading(line)) {
		add(scan, at, OUTLINE_SECTION);
	} else if (is_rule(scan, line) &&
		   (scan->lines == 1 || (scan->lines == 2 && scan->ruled))) {
		underline(scan);
	} else {
		if (!scan->lines) {
			add(scan, at, OUTLINE_BLOCK);
			scan->ruled = is_rule(scan, line);
		}
		scan->lines++;
	}
}

/* The end of front matter at the start of a text; 0: none. */
static size_t
front_matter(const char *text, size_t length)
{
	const char *end;

	if (length < 8 || memcmp(text, "---\n", 4) != 0)
		return 0;
	end = memmem(text + 3, length - 3, "\n---\n", 5);
	return end ? (size_t)(end - text) + 5 : 0;
}

void
outline_read(struct outline *outline, const char *text, size_t length, bool rst)
{
	struct outline_scan scan = { .outline = outline, .rst = rst };
	size_t at = rst ? 0 : front_matter(text, length);

	outline->count = 0;
	if (at)
		add(&scan, 0, OUTLINE_BLOCK);
	while (at < length) {
		const char *stop = memchr(text + at, '\n', length - at);
		size_t end = stop ? (size_t)(stop - text) : length;
		read_line(&scan, at, strip(text + at, end - at));
		at = end + 1;
	}
}

void
outline_free(struct outline *outline)
{
	free(outline->marks);
}
