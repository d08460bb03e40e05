/*
 * text_pairs - pairs of texts, compared in every way that the reference knows, each pair with the
 * number that people gave it: what sts and pairclassification start from.
 *
 * Reads one pair a row (two columns of vectors and a number), or MTEB's old layout of lists (two
 * columns of lists of vectors, a list of numbers).  Instead of the vectors a column
 * "similarity" may hold what a program before has computed; then only TEXT_PAIRS_OWN is filled in.
 * Record by record; six numbers a pair are kept.
 */
#ifndef TEXT_PAIRS_H
#define TEXT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "score/similarity.h"
#include "stream/stream.h"

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
	int64_t count;
	bool given; /* "similarity" was in the stream */
};

struct text_pairs_options {
	const char *fields[2]; /* NULL: sentence1, sentence2, or sent1, sent2 */
	enum similarity own;
	const char *const *targets; /* names of the column of numbers, NULL-terminated */
	const char *what;	    /* what they are, for messages */
};

/* "cosine", ...; TEXT_PAIRS_OWN is "similarity". */
const char *text_pairs_name(enum text_pairs_measure measure);

/* Dies on columns that are absent or of unequal width or length, on vectors and numbers that are
 * not finite; warns of vectors of zeros. */
struct text_pairs *text_pairs_read(
    struct reader *reader, const struct text_pairs_options *options);
void text_pairs_free(struct text_pairs *paired);

#endif
