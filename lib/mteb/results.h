/*
 * results - result files in the format of the mteb package: RESULTS/MODEL/REVISION/TASK.json, beside
 * model_meta.json.
 *
 *	{ "dataset_revision", "task_name", "mteb_version", "scores": { SPLIT: [ { METRIC: number, ...,
 *	  "main_score", "hf_subset", "languages" } ] }, "evaluation_time", "kg_co2_emissions" }
 *
 * Scores are fractions rounded to 6 decimals.  mteb_version is null because no mteb computed them, and evaluation_time
 * is null so that equal runs give equal files.  "motes" holds the settings of mteb-score.
 */
#ifndef MTEB_RESULTS_H
#define MTEB_RESULTS_H

#include <stddef.h>

#include "mteb/part_reports.h"
#include "mteb/registry.h"
#include "text/tree.h"

/* The content of TASK.json for reports of its parts.  Dies if a report lacks the task's main metric or is of a type
 * or protocol by which mteb does not score the task; warns if the set's size differs from mteb's. */
struct tree *results_of(const struct part_reports *of);

struct task_result {
	char *task, *type, *metric; /* type and metric are NULL in mteb's own files */
	double main;		    /* main_score, the mean of the parts that are there */
	size_t missing;		    /* parts that are not */
	int protocol; /* of mteb-score, 1 or 2; 0: unknown, or mteb has only one for the task */
	bool other;	/* scored on a set of another size than mteb's */
	char *path;	/* of the file */
	long long time; /* modification time, seconds since 1970 */
	char *size,
	    *settings; /* "6 queries, 9 documents"; "precision float32"; NULL: unknown */
};

struct results {
	char *model, *revision, *dir;
	struct tree *meta; /* model_meta.json, or NULL */
	int protocol;	   /* of all items with a known one; 0: unknown, or they differ */
	struct task_result *items; /* by name of the task */
	size_t count, capacity;
};

/*
 * Reads the files of a folder, or of the only folder of results somewhere in it; also files that mteb wrote.  Model and
 * revision are those of model_meta.json, else the folders' names.  Files without a score are left out with a warning: those
 * of mteb before 1.11, of another format, or with a main_score of null or NaN.  A task's score is the mean over the subsets
 * and splits that the registry lists, or that the registry's `benchmark` has; of a task that is not in the registry, over
 * all subsets of "test" or of the only split.
 */
struct results *results_read(const struct registry *registry, const char *dir);
const struct task_result *results_find(const struct results *results, const char *task);

/* The path of the table of 'mteb-score --per-query' beside a result, freed by the caller; NULL: there is none. */
char *results_per_query(const struct task_result *result);
void results_free(struct results *results);

#endif
