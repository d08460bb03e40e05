/*
 * cut - finds the ends of records in a text that arrives in blocks.
 *
 *	lines		end at a line feed, or at a carriage return if the text has no line feed
 *	CSV		ends at the first such line end with an even number of quotes before it
 *	elements	of a JSON array end with the value
 */
#ifndef TEXT_CUT_H
#define TEXT_CUT_H

#include <stdbool.h>
#include <stddef.h>

enum cut_kind { CUT_LINES, CUT_CSV, CUT_ELEMENTS };

struct cut {
	enum cut_kind kind;
	char end;	 /* line end: '\n' or '\r' */
	size_t searched; /* bytes searched without finding an end, */
	size_t quotes;	 /* and the quotes in them */
	int depth;
	bool quoted, escaped;
};

/* Returns the end of the record that starts at text, or NULL if text[held] does not contain it; the next call, with
 * more text, continues the search.  The end is the line end; for an element, the byte after it.  After a record call
 * cut_next. */
const char *cut_end(struct cut *cut, const char *text, size_t held);
void cut_next(struct cut *cut);

/* The line end of a text that starts with text[held]: '\n' or '\r'; 0: more text is needed.  whole: the text ends here.
 * In a table (TSV, CSV) the first line decides. */
char cut_line_end(bool table, bool csv, const char *text, size_t held, bool whole);

/* Tells a JSON array of rows from JSON Lines whose rows are lists.  Returns 1 for an array, 0 for lines, -1 if more of
 * the text is needed.  Lines of lists close their bracket before the first line ends, and text follows. */
int cut_is_array(const char *text, size_t held, bool whole);

#endif
