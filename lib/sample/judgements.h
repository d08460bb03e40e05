/*
 * judgements - the positive judgements of a BEIR folder, as row numbers of its queries and corpus.
 *
 *	queries, corpus		records with an id, text or integer, in _id or id
 *	qrels/SPLIT, or qrels	see qrels.h
 *
 * each with a suffix that datafile_find knows.  Texts stay in their files.
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
	struct judged *items;	      /* in the file's order, without duplicates */
	int64_t count;
};

/*
 * Reads the source's folder.  Leaves out judgements of unknown ids, with a warning.  Dies if a file is missing, a judged id occurs
 * twice, or no judgement is left.  The caller closes the sets and frees the items.
 */
struct judgements judgements_read(
    const struct recipe_source *source, const struct examples_options *options);

#endif
