/*
 * report - what a task type has found: the settings that a reader needs to compare figures
 * (protocol, seed, similarity, rule for ties, precision, rounding), the scores in order, and
 * lists (per experiment, per set).
 * Scores have the names of the reference's results, so that they can stand in its files.
 *
 *	# mteb-score sts: protocol v1, similarity cosine, ...
 *	main_score	0.82...
 *	cosine_spearman	0.82...
 *
 * As JSON: {"task_type", "settings": {...}, "scores": {"main_score": ..., ...}}.
 */
#ifndef SCORE_REPORT_H
#define SCORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "text/tree.h"

/* Which mteb's numbers: 1.x, which the papers ran, or 2.x. */
enum protocol { PROTOCOL_V1 = 1, PROTOCOL_V2 };

struct report {
	struct tree *settings, *scores;
	const char *type;
};

struct report *report_new(const char *type);
void report_set(struct report *report, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The metric's name is as printf makes it. */
void report_score(struct report *report, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_list(struct report *report, const double *values, int64_t count,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Copy a metric that was reported to "main_score"; warns when it is NaN, saying `why`. */
void report_main(struct report *report, const char *metric, const char *why);

/* To standard output; dies when that fails. */
void report_print(const struct report *report, bool json);
void report_free(struct report *report);

#endif
