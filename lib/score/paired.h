/*
 * paired - pairs of texts, compared in every way that the reference knows, each pair with the
 * number that people gave it: what sts and pairclassification start from.
 *
 * Reads one pair a row (two columns of vectors and a number), or MTEB's old layout of lists (two
 * columns of lists of vectors, a list of numbers).  Instead of the vectors a column
 * "similarity" may hold what a program before has computed; then only PAIRED_OWN is filled in.
 * Record by record; six numbers a pair are kept.
 */
#ifndef PAIRED_H
#define PAIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "score/similarity.h"
#include "stream/stream.h"

enum paired_measure {
	PAIRED_OWN, /* the model's own, as chosen */
	PAIRED_COSINE,
	PAIRED_MANHATTAN,
	PAIRED_EUCLIDEAN,
	PAIRED_DOT,
	PAIRED_MEASURES
};

struct paired {
	double *similarity[PAIRED_MEASURES]; /* [count]; distances are negated */
	double *target;			     /* [count] */
	int64_t count;
	bool given; /* "similarity" was in the stream */
};

struct paired_options {
	const char *fields[2]; /* NULL: sentence1, sentence2, or sent1, sent2 */
	enum similarity own;
	const char *const *targets; /* names of the column of numbers, NULL-terminated */
	const char *what;	    /* what they are, for messages */
};

/* "cosine", ...; PAIRED_OWN is "similarity". */
const char *paired_name(enum paired_measure measure);

/* Dies on columns that are absent or of unequal width or length, on vectors and numbers that are
 * not finite; warns of vectors of zeros. */
struct paired *paired_read(struct reader *reader, const struct paired_options *options);
void paired_free(struct paired *paired);

#endif
