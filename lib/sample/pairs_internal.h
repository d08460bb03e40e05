/*
 * pairs_internal - what pairs.c and pairs_open.c share.
 */
#ifndef SAMPLE_PAIRS_INTERNAL_H
#define SAMPLE_PAIRS_INTERNAL_H

#include "sample/examples.h"
#include "sample/fields.h"
#include "sample/index.h"
#include "sample/labels.h"
#include "sample/pairs.h"

/* Lists of rows: by side; of groups, where in these each begins and the last one ends. */
enum { GROUPS = SIDES };

struct pairs {
	const struct recipe_source *source;
	struct examples *sets[SIDES]; /* of files the same one */
	struct fields fields[SIDES], label;
	bool is_set;		   /* two texts of one field */
	struct index *rows;	   /* NULL: an example's own number */
	struct progress *progress; /* while many rows are read; NULL: none */
	uint64_t part[2];	   /* first and last hash of what is taken */
	bool hashed;		   /* the part, or the sample, is not everything */
	int64_t most;		   /* so many examples, in the order of the file */
	int64_t count;
	struct labels *labels;		 /* NULL: they are not asked for */
	struct buffer text;		 /* of a label, or to be hashed */
	struct comparison *mark;	 /* which the type asks for; NULL: none */
	const struct comparison **where; /* what must hold: the recipe's, or the mark */
	int where_count;
	bool *known; /* [where_count] whether any row has what is asked for */
	struct pair pair;
	struct pair_text *negatives; /* of the pair */
	size_t negatives_room;
};

/* Append the text of a side. */
void pairs_append_side(struct pairs *pairs, struct buffer *to, int side,
    const struct tree *record, const struct fields_choice *choice);

/* Set pairs->text to what rows have in common: the label, of groups the document. */
void pairs_set_label(struct pairs *pairs, const struct tree *record);

#endif
