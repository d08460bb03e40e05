/*
 * report - what the scorers of all task types share: the report that they fill in.
 *
 * A report is the settings that a reader needs to compare figures (protocol, seed, similarity,
 * rule for ties, precision, rounding), the scores in order, and lists (per experiment, per set).
 * Scores have the names of the reference's results, so that they can stand in its files.
 *
 *	# mteb-score sts: protocol v1, similarity cosine, ...
 *	main_score	0.82...
 *	cosine_spearman	0.82...
 *
 * As JSON: {"task_type", "settings": {...}, "scores": {"main_score": ..., ...}}.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "score/similarity.h"
#include "stream/stream.h"
#include "text/tree.h"

/* Which mteb's numbers: 1.x, which the papers ran, or 2.x. */
enum protocol { PROTOCOL_V1 = 1, PROTOCOL_V2 };

/* Dies, naming both, unless the streams' embeddings are of one model, as far as the headers tell, and
 * of one width; `any`: two models that were trained for each other. */
void score_one_model(const struct reader *one, int one_emb, const struct reader *other,
    int other_emb, bool any);

/* For the types that need no more than a stream. */
struct score_options {
	const char *fields[2];	    /* of pairs; NULL: the usual ones */
	enum similarity similarity; /* the model's own */
	enum protocol protocol;
};

struct report {
	struct tree *settings, *scores;
	const char *type;
};

struct report *report_new(const char *type);
void report_set(struct report *report, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_score(struct report *report, const char *metric, double value);

/* The same, the metric's name as printf makes it. */
void report_named(struct report *report, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_list(
    struct report *report, const char *name, const double *values, int64_t count);

/* Copy a metric that was reported to "main_score"; warns when it is NaN, saying `why`. */
void report_main(struct report *report, const char *metric, const char *why);

/* To standard output; dies when that fails. */
void report_print(const struct report *report, bool json);
void report_free(struct report *report);

#endif
