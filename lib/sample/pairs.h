/*
 * pairs - the examples of a data set by number: the texts of a query and its document.
 *
 *	files		an example a row: two fields, of which a list gives one text by chance; two
 *			different texts of one list; or, by `label`, the row's text and that of another
 *			row of the same label.  By `each` the members of lists are rows; by
 *			`group` the queries of one document, so many at a time, are one
 *	a BEIR folder	an example a positive judgement
 *
 * less what `where`, `part`, `sample` and `first` of the recipe leave out.  Texts are read when they are asked
 * for; what is kept is 8 bytes an example (of a folder 16, of labels some 40, of groups 8 a text), nothing
 * where every row of a file is an example; by `each` what examples.h says.  With a folder for indices,
 * which rows of files are examples is kept there instead, but of labels, and found out once for these files
 * and these words of the recipe.
 *
 * A `type` says what the fields are called and which rows are pairs, where the recipe does not.
 *
 * Whether an example is of a `part` depends on the text of its query (or its document) alone: the
 * text's hash as an unsigned number, divided by 2^64, is between the part's ends.  A `sample` is
 * those examples of the part whose hashes are least; of equal texts the last may be left out.
 */
#ifndef SAMPLE_PAIRS_H
#define SAMPLE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "sample/examples.h"
#include "sample/recipe.h"

struct pairs;

/* A text that is not copied: fields_append_value appends it. */
struct pair_text {
	const char *field;
	const struct tree *value;
};

struct pair {
	struct buffer text[SIDES];
	const struct tree *record; /* the row; of a folder the document */
	const struct pair_text *negatives;
	size_t negative_count;
	bool labelled;
	uint64_t label; /* where it is labelled, the label's hash */
};

/* Dies, with FILE:LINE, on what is no such data set, or has no example.  The source is borrowed, and
 * the options' strings. */
struct pairs *pairs_open(
    const struct recipe_source *source, const struct examples_options *options);
int64_t pairs_count(const struct pairs *pairs);

/* An example, borrowed until the next call; chances NULL: of lists the first text, of labels the
 * next. */
const struct pair *pairs_get(
    struct pairs *pairs, int64_t index, const uint64_t chances[SIDES]);

/* Hash of a text, or of the label in its place: equal ones are not each other's negatives. */
uint64_t pair_key(const struct pair *pair, int side);

/* Invalid UTF-8 parts that were replaced by U+FFFD in what was read so far. */
int64_t pairs_repaired(const struct pairs *pairs);
void pairs_close(struct pairs *pairs);

#endif
