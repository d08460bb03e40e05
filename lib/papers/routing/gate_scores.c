#include "papers/routing/gate_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "score/per_query.h"

enum { LONGEST = 200 };

/* Dies, naming `whose`, if the name cannot be that of columns and folders. */
static void
check_name(const char *whose, const char *name)
{
	if (!*name)
		die("%s: the gate has no name; say NAME=FILE", whose);
	if (strlen(name) > LONGEST)
		die("%s: the gate's name is longer than %d bytes; say NAME=FILE", whose,
		    LONGEST);
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127 || *c == '/')
			die("%s: a gate's name has no '/' and no control characters; say NAME=FILE",
			    whose);
}

/* The name of "NAME=FILE" or "FOLDER/NAME.tsv"; the caller frees it. */
static char *
name_of(const char *operand, const char **file)
{
	const char *equals = strchr(operand, '='), *slash = strchr(operand, '/');
	bool given = equals && (!slash || equals < slash);
	size_t length = given ? (size_t)(equals - operand) : 0;

	*file = given ? equals + 1 : operand;
	const char *name = given ? operand : file_bare_name(operand, &length);
	return mem_format("%.*s", (int)length, name);
}

static const double *
column_of(const struct per_query *table, const char *file, const char *metric)
{
	char *there = NULL;

	for (int i = 0; i < table->count; i++) {
		if (strcmp(table->columns[i].name, metric) == 0)
			return table->columns[i].values.at;
		there = mem_list(there, table->columns[i].name);
	}
	die("%s: it has no '%s', only: %s; choose with --metric", file, metric, there);
}

struct gate_scores *
gate_scores_open(char *const *files, int count, const char *metric)
{
	struct gate_scores *scores = mem_zero(1, sizeof *scores);

	scores->count = count;
	scores->gates = strings_new();
	scores->tables = mem_new((size_t)count, sizeof(struct per_query *));
	scores->values = mem_new((size_t)count, sizeof(const double *));
	for (int i = 0; i < count; i++) {
		const char *file;
		bool fresh;
		char *name = name_of(files[i], &file);
		check_name(files[i], name);
		strings_add(scores->gates, name, strlen(name), &fresh);
		if (!fresh)
			die("%s: a gate '%s' was named before; say NAME=FILE", files[i],
			    name);
		scores->tables[i] = per_query_read(file);
		scores->values[i] = column_of(scores->tables[i], file, metric);
		free(name);
	}
	return scores;
}

void
gate_scores_of(
    const struct gate_scores *scores, const char *id, size_t length, double *to)
{
	for (int i = 0; i < scores->count; i++) {
		int64_t at = strings_find(scores->tables[i]->ids, id, length);
		if (at < 0)
			die("the scores of gate '%s' lack the query '%.*s'; score the queries of this stream",
			    strings_get(scores->gates, i),
			    (int)(length > 100 ? 100 : length), id);
		to[i] = scores->values[i][at];
		if (!isfinite(to[i]))
			die("the score of query '%.*s' with gate '%s' is not a number",
			    (int)(length > 100 ? 100 : length), id,
			    strings_get(scores->gates, i));
	}
}

void
gate_scores_means(const struct gate_scores *scores, double *to)
{
	const struct strings *ids = scores->tables[0]->ids;
	int64_t queries = strings_count(ids);
	double *row = mem_new((size_t)scores->count, sizeof *row);

	memset(to, 0, (size_t)scores->count * sizeof *to);
	for (int i = 0; i < scores->count; i++)
		if (strings_count(scores->tables[i]->ids) != queries)
			die("the scores of gates '%s' and '%s' are not of the same queries: there are %lld and %lld",
			    strings_get(scores->gates, 0), strings_get(scores->gates, i),
			    (long long)queries,
			    (long long)strings_count(scores->tables[i]->ids));
	for (int64_t q = 0; q < queries; q++) {
		gate_scores_of(scores, strings_get(ids, q), strings_length(ids, q), row);
		for (int i = 0; i < scores->count; i++)
			to[i] += row[i] / (double)queries;
	}
	free(row);
}

void
gate_scores_close(struct gate_scores *scores)
{
	for (int i = 0; i < scores->count; i++)
		per_query_free(scores->tables[i]);
	strings_free(scores->gates);
	free(scores->tables);
	free(scores->values);
	free(scores);
}

int
gate_scores_best(const double *scores, int count, int *ties)
{
	int best = 0, equal = 1;

	for (int i = 1; i < count; i++) {
		if (scores[i] > scores[best]) {
			best = i;
			equal = 1;
		} else {
			equal += scores[i] == scores[best];
		}
	}
	if (ties)
		*ties = equal;
	return best;
}
