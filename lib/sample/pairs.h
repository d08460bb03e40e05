/*
 * pairs - the examples of a data set by number: the texts of a query and its document.
 *
 *	files		a row is an example: two fields (a list gives one text, drawn at random); two different texts of one list;
 *			or, with `label`, the row's text and that of another row of the same label.  With `each` the members of
 *			lists are rows; with `group` an example joins several queries of one document
 *	a BEIR folder	a positive judgement is an example
 *
 * The recipe's `where`, `part`, `sample` and `first` leave examples out.  Texts are read when they are asked for.  Memory: 8 bytes
 * per example (16 of a folder, some 40 with labels, 8 per text with groups), none if every row of a file is an example; with
 * `each` as examples.h says.  With a folder for indices the rows that are examples are stored there instead, except with labels,
 * once for the same files and recipe.
 *
 * A `type` provides the field names and the condition on rows that the recipe does not give.
 *
 * An example is in a `part` by the text of its query (or document) alone: the text's hash / 2^64 is between the part's ends.  A
 * `sample` has the examples of the part with the smallest hashes; of equal texts the last may be left out.
 */
#ifndef SAMPLE_PAIRS_H
#define SAMPLE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "sample/examples.h"
#include "sample/recipe.h"

struct pairs;

/* A text that is not copied; fields_append_value appends it. */
struct pair_text {
	const char *field;
	const struct tree *value;
	double score; /* with the recipe's 'negative_scores' */
};

struct pair {
	struct buffer text[SIDES];
	const struct tree *record; /* the row; of a folder: the document */
	const struct pair_text *negatives;
	size_t negative_count;
	double score; /* of query and document, with the recipe's 'score' */
	bool labelled;
	uint64_t label; /* if labelled, the label's hash */
};

/* Dies with FILE:LINE if the source is no such data set, or has no example.  Source and the options' strings are borrowed. */
struct pairs *pairs_open(
    const struct recipe_source *source, const struct examples_options *options);
int64_t pairs_count(const struct pairs *pairs);

/* An example, borrowed until the next call.  chances: random numbers, which choose texts of lists and partners of labels; NULL: the
 * first text, the next partner. */
const struct pair *pairs_get(
    struct pairs *pairs, int64_t index, const uint64_t chances[SIDES]);

/* Hash of the text, or of the label if labelled: texts with equal keys are not negatives of each other. */
uint64_t pair_key(const struct pair *pair, int side);

/* Number of invalid UTF-8 sequences replaced by U+FFFD so far. */
int64_t pairs_repaired(const struct pairs *pairs);
void pairs_close(struct pairs *pairs);

#endif
