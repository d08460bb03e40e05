/*
 * cut - where records end in a text that comes piece by piece.
 *
 *	lines		at a line feed; at a carriage return in a text that has no line feed
 *	CSV		at the first such end with an even number of quotes before it
 *	elements	of a JSON array: at the end of the value
 */
#ifndef TEXT_CUT_H
#define TEXT_CUT_H

#include <stdbool.h>
#include <stddef.h>

enum cut_kind { CUT_LINES, CUT_CSV, CUT_ELEMENTS };

struct cut {
	enum cut_kind kind;
	char end;	 /* of lines and of CSV's records: '\n' or '\r' */
	size_t searched; /* bytes of the text that hold no end, */
	size_t quotes;	 /* and what was met in them */
	int depth;
	bool quoted, escaped;
};

/* The end of the record at the beginning of text[held], NULL when it is not there.  Of lines and
 * CSV the end is the character that ends it, of an element what follows it.  With the text in one more piece
 * the search goes on where it was; after a record, forget it: cut_next. */
const char *cut_end(struct cut *cut, const char *text, size_t held);
void cut_next(struct cut *cut);

/* What ends lines in a text that begins so: '\n', '\r', or 0: more of it is needed.  `whole`: it ends here.  Of tables, TSV
 * and CSV, the first line decides. */
char cut_line_end(bool table, bool csv, const char *text, size_t held, bool whole);

/* Tells a JSON array of rows from JSON Lines whose rows are lists.  Returns 1 for an array, 0 for lines, -1 if more of
 * the text is needed.  Lines of lists close their bracket before the first line ends, and text follows. */
int cut_is_array(const char *text, size_t held, bool whole);

#endif
