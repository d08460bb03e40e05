/*
 * outline - where the sections and blocks of a document begin: plain text, Markdown or reStructuredText.
 *
 * A section begins with a heading: "# ..." of Markdown, or a line that a line of ===, --- or, in
 * reStructuredText, of another sign underlines.  Headings that follow each other without a block between begin one
 * section.  A block is a paragraph (lines up to a blank one), a fenced block of code, or the front matter between
 * lines of ---.  The first block below a heading is bound: it is kept with the heading.
 */
#ifndef TEXT_OUTLINE_H
#define TEXT_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

enum outline_kind { OUTLINE_SECTION, OUTLINE_BLOCK, OUTLINE_CODE };

struct outline_mark {
	size_t at; /* the first byte of its first line */
	enum outline_kind kind;
	bool bound; /* to what stands before it */
};

/* In the order of their offsets.  Zeroed: empty. */
struct outline {
	struct outline_mark *marks;
	size_t count, capacity;
};

/* Replaces what the outline held.  rst: the text is reStructuredText. */
void outline_read(struct outline *outline, const char *text, size_t length, bool rst);
void outline_free(struct outline *outline);

#endif
