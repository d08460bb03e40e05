/*
 * cat - several streams end to end, and which of their columns go on.
 */
#ifndef MTS_CAT_H
#define MTS_CAT_H

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
void cat_streams(char **paths, int count, const struct selection *selection,
    const char *to, int level);

#endif
