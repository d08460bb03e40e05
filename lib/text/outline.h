/*
 * outline - finds the sections and blocks of a document: plain text, Markdown or reStructuredText.
 *
 * A section starts with a heading: "# ..." of Markdown, or a line underlined by ===, --- or, in reStructuredText, by
 * another sign.  Consecutive headings start one section.  A block is a paragraph (lines up to a blank one), a fenced
 * block of code, or the front matter between lines of ---.  The first block below a heading is bound: it is kept with
 * the heading.
 */
#ifndef TEXT_OUTLINE_H
#define TEXT_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

enum outline_kind { OUTLINE_SECTION, OUTLINE_BLOCK, OUTLINE_CODE };

struct outline_mark {
	size_t at; /* the first byte of its first line */
	enum outline_kind kind;
	bool bound; /* belongs to the mark before it */
};

/* Sorted by offset.  Zeroed: empty. */
struct outline {
	struct outline_mark *marks;
	size_t count, capacity;
};

/* Replaces the contents of the outline.  rst: the text is reStructuredText. */
void outline_read(struct outline *outline, const char *text, size_t length, bool rst);
void outline_free(struct outline *outline);

#endif
