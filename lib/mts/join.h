/*
 * join - several streams as one: end to end, or side by side.
 */
#ifndef JOIN_H
#define JOIN_H

#include "stream/stream.h"

struct names {
	const char **items;
	int count;
};

/* Which columns go on (none named: all), and how they are called there: "OLD=NEW". */
struct selection {
	struct names kept, renames;
};

/* All records of the first stream, then of the second, ... as `cat a.mts b.mts` would be read;
 * streams that do not agree are refused. */
void join_cat(char **paths, int count, const struct selection *selection, const char *to,
    int level);

/*
 * Rows of all streams side by side: the columns of the first, then of the second, ...; their
 * numbers of rows must be equal, their names distinct.  Records end where one of any stream does.
 * Attributes and properties: what the first has, then what the others add; a property that
 * they have otherwise does not hold for the whole and is left out.
 */
void join_paste(char **paths, int count, const char *to, int level);

#endif
