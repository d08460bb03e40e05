#include "mteb/query_pairs.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

void
query_pairs_match(struct query_pairs *pairs)
{
	const struct strings *one = pairs->tables[0]->ids, *two = pairs->tables[1]->ids;
	const char *first = NULL;
	int64_t left_out = strings_lacking(one, two, &first);

	left_out += strings_lacking(two, one, &first);
	pairs->rows = mem_new((size_t)strings_count(one), sizeof *pairs->rows);
	for (int64_t i = 0; i < strings_count(one); i++) {
		int64_t other = strings_find_from(two, one, i);
		if (other < 0)
			continue;
		pairs->rows[pairs->count][0] = i;
		pairs->rows[pairs->count++][1] = other;
	}
	if (!pairs->count)
		die("%s: it has no query of %s (the first there is '%s')",
		    pairs->files[1], pairs->files[0], strings_get(one, 0));
	if (pairs->count == 1)
		warn(
		    "only '%s' is in both %s and %s: a single query has no t, interval or error",
		    strings_get(one, pairs->rows[0][0]), pairs->files[0],
		    pairs->files[1]);
	if (left_out)
		warn(
		    "%lld queries are left out: only one of %s and %s has them; first: '%s'",
		    (long long)left_out, pairs->files[0], pairs->files[1], first);
}

double *
query_pairs_column(const struct query_pairs *pairs, int which, const char *name)
{
	const struct per_query *table = pairs->tables[which];
	int column = per_query_find(table, name);

	if (column < 0)
		return NULL;
	double *values = mem_new((size_t)pairs->count, sizeof *values);
	for (int64_t i = 0; i < pairs->count; i++)
		values[i] = table->columns[column].values.at[pairs->rows[i][which]];
	return values;
}

const char *
query_pairs_target(const struct query_pairs *pairs)
{
	static const char *const names[] = { "gold", "label" };

	for (int i = 0; i < 2; i++)
		if (per_query_find(pairs->tables[0], names[i]) >= 0 &&
		    per_query_find(pairs->tables[1], names[i]) >= 0)
			return names[i];
	return NULL;
}

double *
query_pairs_targets(const struct query_pairs *pairs)
{
	const char *name = query_pairs_target(pairs);
	double *first = query_pairs_column(pairs, 0, name),
	       *second = query_pairs_column(pairs, 1, name);

	for (int64_t i = 0; i < pairs->count; i++)
		if (!(first[i] == second[i]))
			die("%s: the %s of '%s' is %g, in %s it is %g: they are not of the same pairs",
			    pairs->files[1], name,
			    strings_get(pairs->tables[0]->ids, pairs->rows[i][0]),
			    second[i], pairs->files[0], first[i]);
	free(second);
	return first;
}
