#include "score/instructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "score/measure/stats.h"

enum { LEVELS = 3 };

struct instructions {
	enum instruction_score kind;
	struct strings *groups;
	struct series least;	     /* [groups] */
	struct numbers members;	     /* [groups]: for pairs bit 0: _q1, bit 1: _q2 */
	struct series level[LEVELS]; /* nDCG@20 */
};

struct instructions *
instructions_new(enum instruction_score kind)
{
	struct instructions *instructions = mem_zero(1, sizeof *instructions);

	instructions->kind = kind;
	instructions->groups = strings_new();
	return instructions;
}

static void
add_level(struct instructions *instructions, const char *id, size_t length, double value)
{
	for (int level = 0; level < LEVELS; level++) {
		char name[2] = { 'v', (char)('1' + level) };
		if (memmem(id, length, name, sizeof name)) {
			series_add(&instructions->level[level], value);
			return;
		}
	}
}

void
instructions_add(struct instructions *instructions, const char *id, size_t length,
    const struct graded_list *list)
{
	double values[RANKING_MEASURES], value;
	const char *end = memchr(id, '_', length);
	size_t prefix = end ? (size_t)(end - id) : length;
	bool fresh;

	ranking_measure(values, list,
	    instructions->kind == INSTRUCTION_PAIRS    ? 1
	    : instructions->kind == INSTRUCTION_LEVELS ? 20
						       : 10);
	if (instructions->kind == INSTRUCTION_LEVELS) {
		add_level(instructions, id, length, values[RANKING_NDCG]);
		return;
	}
	value = instructions->kind == INSTRUCTION_PAIRS ? values[RANKING_RECALL] == 1
							: values[RANKING_NDCG];
	int64_t group = strings_add(instructions->groups, id, prefix, &fresh);
	if (fresh) {
		series_add(&instructions->least, value);
		numbers_add(&instructions->members, 0);
	}
	double *least = &instructions->least.at[group];
	*least = fmin(*least, value);
	if (length == prefix + 3 && end[1] == 'q' && (end[2] == '1' || end[2] == '2'))
		instructions->members.data[group] |= 1 << (end[2] - '1');
}

static void
report_levels(const struct instructions *instructions, struct report *report)
{
	struct report part = report_part(report);

	for (int i = 0; i < LEVELS; i++)
		report_score(&part,
		    stats_mean(instructions->level[i].at, instructions->level[i].count),
		    "level_%d", i + 1);
	report_put(report, "level_scores", &part);
}

void
instructions_report(
    const struct instructions *instructions, struct report *report, const char *name)
{
	const char *score = instructions->kind == INSTRUCTION_PAIRS ? "paired_accuracy"
								    : "robustness_at_10";
	const struct strings *groups = instructions->groups;

	if (instructions->kind == INSTRUCTION_LEVELS) {
		report_levels(instructions, report);
		return;
	}
	for (int64_t i = 0; i < strings_count(groups); i++)
		if (instructions->kind == INSTRUCTION_PAIRS &&
		    instructions->members.data[i] != 3)
			die("%s: the query '%s' is not there twice, as '%s_q1' and '%s_q2'",
			    name, strings_get(groups, i), strings_get(groups, i),
			    strings_get(groups, i));
	report_score(report,
	    stats_mean(instructions->least.at, instructions->least.count), "%s", score);
	report_main(report, score, "there is no query");
}

void
instructions_free(struct instructions *instructions)
{
	for (int i = 0; i < LEVELS; i++)
		free(instructions->level[i].at);
	free(instructions->least.at);
	free(instructions->members.data);
	strings_free(instructions->groups);
	free(instructions);
}

/* p-MRR. ---------------------------------------------------------------------------- */

bool
instructions_original(const char *id, size_t length)
{
	return length >= 3 && memcmp(id + length - 3, "-og", 3) == 0;
}

/* The number of the query ID and `ending` in the run, or -1. */
static int64_t
find_query(
    const struct run *run, const struct strings *ids, int64_t id, const char *ending)
{
	size_t length = strings_length(ids, id), end = strlen(ending);
	char *name = mem_new(length + end, 1);

	memcpy(name, strings_get(ids, id), length); /* which may hold a NUL */
	memcpy(name + length, ending, end);
	int64_t number = strings_find(run->queries, name, length + end);
	free(name);
	return number;
}

/* From 1; behind all hits if it is none of them. */
static double
rank_of(const struct hits *hits, int64_t document)
{
	int64_t rank = 0;

	while (rank < hits->count && hits->at[rank].document != document)
		rank++;
	return (double)(rank + 1);
}

static double
change(double before, double after)
{
	return before >= after ? after / before - 1 : 1 - before / after;
}

/* The mean over the documents of one id. */
static double
mean_change(const struct run *run, const struct run *changed, int64_t id,
    const struct hits *before, const struct hits *after)
{
	const struct hits *documents = &changed->hits[id];
	double sum = 0;

	for (int64_t i = 0; i < documents->count; i++) {
		int64_t number = strings_find_from(
		    run->documents, changed->documents, documents->at[i].document);
		sum += change(rank_of(before, number), rank_of(after, number));
	}
	return sum / (double)documents->count;
}

double
instructions_p_mrr(const struct run *run, const char *path)
{
	struct run *changed = run_read_candidates(path);
	struct warning without = { 0 };
	struct series means = { 0 };

	for (int64_t i = 0; i < strings_count(changed->queries); i++) {
		int64_t before = find_query(run, changed->queries, i, "-og");
		int64_t after = find_query(run, changed->queries, i, "-changed");
		if (before < 0 || after < 0)
			warning_add(&without, strings_get(changed->queries, i),
			    strings_length(changed->queries, i));
		else if (changed->hits[i].count)
			series_add(&means, mean_change(run, changed, i,
					       &run->hits[before], &run->hits[after]));
	}
	if (!means.count)
		die("%s: no id in it has the queries ID-og and ID-changed, and documents (the first id is '%s')",
		    path, strings_get(changed->queries, 0));
	warning_print(&without, path,
	    "ids have not both queries, ID-og and ID-changed: they are left out");
	double mean = stats_mean(means.at, means.count);
	free(means.at);
	run_free(changed);
	return mean;
}
