/*
 * paste - several streams side by side.
 */
#ifndef MTS_PASTE_H
#define MTS_PASTE_H

/*
 * Rows of all streams side by side: the columns of the first, then of the second, ...; their
 * numbers of rows must be equal, their names distinct.  Records end where one of any stream does.
 * Attributes and properties: what the first has, then what the others add; a property that
 * they have otherwise does not hold for the whole and is left out.
 */
void paste_streams(char **paths, int count, const char *to, int level);

#endif
