/*
 * text_pairs - pairs of texts with their similarities by each of mteb's measures and their gold number (a score or a
 * label): the input of sts and pairclassification.
 *
 * Reads one pair per row (two columns of vectors and a number), or MTEB's old layout (two columns of lists of vectors
 * and a list of numbers).  A column "similarity" may replace the vectors; then only TEXT_PAIRS_OWN is filled in.
 * Memory: six doubles per pair.
 */
#ifndef SCORE_TEXT_PAIRS_H
#define SCORE_TEXT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "score/measure/stats.h"
#include "score/score.h"
#include "search/vectors.h"

enum text_pairs_measure {
	TEXT_PAIRS_OWN, /* the model's similarity, or the one chosen by --similarity */
	TEXT_PAIRS_COSINE,
	TEXT_PAIRS_MANHATTAN,
	TEXT_PAIRS_EUCLIDEAN,
	TEXT_PAIRS_DOT,
	TEXT_PAIRS_MEASURES
};

struct text_pairs {
	struct series
	    similarity[TEXT_PAIRS_MEASURES]; /* [count]; distances are negated */
	struct series target;		     /* [count] */
	int64_t count;			     /* at least 2 */
	bool given;			     /* the stream has a column "similarity" */
	enum similarity own;
	char *stream; /* its name, for messages */
};

/* "cosine", ...; TEXT_PAIRS_OWN is "similarity". */
const char *text_pairs_name(enum text_pairs_measure measure);

/* Opens the two columns of vectors, or of lists of vectors: `fields` [2], or if fields[0] is NULL the usual ones.  Dies
 * if they are absent or of different widths. */
void text_pairs_open(
    struct reader *reader, const char *const *fields, struct vectors *sides[2]);

/*
 * Reads the stream options->files[0].  The fields are sentence1 and sentence2, or sent1 and sent2, unless
 * the options name others.  `targets` lists names of the column of numbers (NULL-terminated); `what` names
 * these numbers in messages.
 * Dies on absent columns, unequal widths or lengths, NaN and infinity; warns of zero vectors.  Adds each
 * pair to options->per_query.
 */
struct text_pairs *text_pairs_read(
    const struct score_options *options, const char *const *targets, const char *what);

/* Adds the settings that change the scores to the report. */
void text_pairs_describe(
    const struct text_pairs *pairs, struct report *report, const char *ties);
void text_pairs_free(struct text_pairs *pairs);

#endif
