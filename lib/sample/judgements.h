/*
 * judgements - the positive judgements of a BEIR folder, as rows of its queries and of its corpus.
 *
 *	queries, corpus		records with an id in _id or id, which is text or a whole number
 *	qrels/SPLIT, or qrels	as qrels.h has them
 *
 * each with an ending that datafile_find knows.  Texts stay in their files.
 */
#ifndef SAMPLE_JUDGEMENTS_H
#define SAMPLE_JUDGEMENTS_H

#include <stdint.h>

#include "sample/examples.h"
#include "sample/recipe.h"

struct judged {
	int64_t row[SIDES]; /* of the query, of the document */
	int64_t grade;	    /* above 0 */
};

struct judgements {
	struct examples *sets[SIDES]; /* the queries, the corpus */
	struct judged *items;	      /* in the file's order, no pair twice */
	int64_t count;
};

/*
 * Of the source's folder.  Judgements of what is not in the files are left out, with a warning.
 * Dies where a file is missing, an id that is judged is there twice, and where no judgement is
 * left.  Whoever has it closes the sets and frees the items.
 */
struct judgements judgements_read(
    const struct recipe_source *source, const struct examples_options *options);

#endif
