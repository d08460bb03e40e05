/*
 * results - score files as the mteb package has them: RESULTS/MODEL/REVISION/TASK.json, beside
 * model_meta.json.
 *
 *	{ "dataset_revision", "task_name", "mteb_version", "scores": { SPLIT: [ { METRIC: number, ...,
 *	  "main_score", "hf_subset", "languages" } ] }, "evaluation_time", "kg_co2_emissions" }
 *
 * Scores are fractions rounded to 6 decimals.  mteb_version and evaluation_time are null: no mteb
 * was there, and equal runs give equal files.  "motes" holds the settings of mteb-score.
 */
#ifndef MTEB_RESULTS_H
#define MTEB_RESULTS_H

#include <stddef.h>

#include "mteb/registry.h"
#include "text/tree.h"

/* What 'mteb-score --json' printed; from a pipe, too. */
struct tree *results_report(const char *path);

/* The file for what 'mteb-score --json' printed; dies when the task's main metric is not in it, or when
 * mteb scores the task in another way, and warns when the set has another size than mteb's. */
struct tree *results_of(const struct registry_task *task, const struct tree *report);

struct result {
	char *task, *type, *metric; /* the last two NULL: mteb's files do not say */
	double main;		    /* main_score */
	int protocol; /* of mteb-score, 1 or 2; 0: the file does not say, or mteb knows one only */
	bool other;	/* scored on a set of another size than mteb's */
	char *path;	/* of the file */
	long long time; /* when it was written, seconds since 1970 */
	char *size,
	    *settings; /* "6 queries, 9 documents"; "precision float32"; NULL: the file does not say */
};

struct results {
	char *model, *revision, *dir;
	int protocol;	      /* that of all that say it; 0: none does, or they differ */
	struct result *items; /* by the name of the task */
	size_t count, capacity;
};

/*
 * The files of a folder; model and revision as model_meta.json has them, else by the names of
 * the folders.  Files of other writers are welcome; one without a score is left out with a warning: of
 * mteb before 1.11, of something else, or with a main_score that is null or NaN.  A file with several
 * splits counts by the registry's, of a set that is not in it by "test" or the only one, and is left
 * out where there is no such; of several subsets the registry's counts, else their mean.
 */
struct results *results_read(const struct registry *registry, const char *dir);
const struct result *results_find(const struct results *results, const char *task);
void results_free(struct results *results);

#endif
