/*
 * text_pairs - pairs of texts, compared in every way that the reference knows, each pair with the
 * number that people gave it: what sts and pairclassification start from.
 *
 * Reads one pair a row (two columns of vectors and a number), or MTEB's old layout of lists (two
 * columns of lists of vectors, a list of numbers).  Instead of the vectors a column
 * "similarity" may hold what a program before has computed; then only TEXT_PAIRS_OWN is filled in.
 * Record by record; six numbers a pair are kept.
 */
#ifndef SCORE_TEXT_PAIRS_H
#define SCORE_TEXT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "score/score.h"

enum text_pairs_measure {
	TEXT_PAIRS_OWN, /* the model's own, as chosen */
	TEXT_PAIRS_COSINE,
	TEXT_PAIRS_MANHATTAN,
	TEXT_PAIRS_EUCLIDEAN,
	TEXT_PAIRS_DOT,
	TEXT_PAIRS_MEASURES
};

struct text_pairs {
	double *similarity[TEXT_PAIRS_MEASURES]; /* [count]; distances are negated */
	double *target;				 /* [count] */
	int64_t count;				 /* two at least */
	bool given;				 /* "similarity" was in the stream */
	enum similarity own;
	char *stream; /* its name, for messages */
};

/* "cosine", ...; TEXT_PAIRS_OWN is "similarity". */
const char *text_pairs_name(enum text_pairs_measure measure);

/*
 * The stream options->files[0].  The fields are sentence1 and sentence2, or sent1 and sent2, unless
 * the options name others.  `targets` are names of the column of numbers, NULL-terminated, and
 * `what` they are, for messages.
 * Dies on columns that are absent or of unequal width or length, on vectors and numbers that are
 * not finite; warns of vectors of zeros.  Adds each pair to options->per_query.
 */
struct text_pairs *text_pairs_read(
    const struct score_options *options, const char *const *targets, const char *what);

/* The settings that decide the figures. */
void text_pairs_describe(
    const struct text_pairs *pairs, struct report *report, const char *ties);
void text_pairs_free(struct text_pairs *pairs);

#endif
