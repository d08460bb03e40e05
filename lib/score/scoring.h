/*
 * scoring - the types of task, and what each is told: which scorer, from which files, by which
 * options.  What is missing or too much dies as a usage fault.
 */
#ifndef SCORING_H
#define SCORING_H

#include <stdbool.h>

#include "score/report.h"
#include "score/classification.h"
#include "score/clustering.h"
#include "score/retrieval.h"

struct scoring {
	struct score_options common;
	int fields; /* how many of common.fields were named */
	struct retrieval_options retrieval;
	struct classification_options classification;
	struct clustering_options clustering;
};

struct scoring_type;

struct scoring scoring_defaults(void);

/* Their names, as one says them in a sentence. */
extern const char scoring_types[];

/* NULL when there is no such type. */
const struct scoring_type *scoring_find(const char *name);
const char *scoring_name(const struct scoring_type *type);

/* Whether an option, by its long name, means anything to the type. */
bool scoring_knows(const struct scoring_type *type, const char *option);

/* The report, or NULL when nothing was to be judged. */
struct report *scoring_run(
    const struct scoring_type *type, struct scoring *scoring, char **files, int count);

#endif
