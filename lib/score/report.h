/*
 * report - the result of a task type: the settings that figures depend on (protocol, seed, similarity,
 * rule for ties, precision, rounding), the scores in order, and lists of scores (per experiment, per set).
 * Scores have mteb's names, so that result files can hold them.
 *
 *	# mteb-score sts: protocol v1, similarity cosine, ...
 *	main_score	0.82...
 *	cosine_spearman	0.82...
 *
 * As JSON: {"task_type", "settings": {...}, "scores": {"main_score": ..., ...}}.  The scores have the structure of mteb's
 * files; a line names the path: "v_measures": {"Level 0": [...]} is "v_measures_level_0", and the values of a metric in
 * "scores_per_experiment", a list of objects, are METRIC_per_experiment.
 */
#ifndef SCORE_REPORT_H
#define SCORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "text/tree.h"

/* Compute what mteb 1.x computes (most papers), or mteb 2.x. */
enum protocol { PROTOCOL_V1 = 1, PROTOCOL_V2 };

struct report {
	struct tree *settings, *scores;
	const char *type;
};

struct report *report_new(const char *type);
void report_set(struct report *report, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The format makes the metric's name. */
void report_score(struct report *report, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_list(struct report *report, const double *values, int64_t count,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports "scores_per_experiment", values [metrics, experiments] by the metrics' names, and the mean of each metric. */
void report_experiments(struct report *report, const char *const *names, int metrics,
    const double *values, int experiments);

/*
 * Scores in an object of their own:
 *
 *	struct report part = report_part(report);
 *	report_score(&part, ...);
 *	report_put(report, "og", &part);
 */
struct report report_part(const struct report *report);
void report_put(struct report *report, const char *name, struct report *part);

/* Copies a reported metric to "main_score"; warns with `why` if it is NaN. */
void report_main(struct report *report, const char *metric, const char *why);

/* Prints to standard output; dies when that fails. */
void report_print(const struct report *report, bool json);
void report_free(struct report *report);

#endif
