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

/* Lists of an index: the rows of each side; with groups, the first row of each group and the end. */
enum { GROUPS = SIDES };

struct pairs {
	const struct recipe_source *source;
	struct examples *sets[SIDES]; /* of files: the same twice */
	struct fields fields[SIDES], label;
	bool is_set;		   /* two texts of one field */
	struct index *rows;	   /* NULL: row i is example i */
	struct progress *progress; /* while many rows are read; NULL: none */
	uint64_t part[2];	   /* first and last hash of the part */
	bool hashed;		   /* there is a part or a sample */
	int64_t most;		   /* maximal number of examples */
	int64_t count;
	struct labels *labels;		 /* NULL: no labels */
	struct buffer text;		 /* of a label, or to be hashed */
	struct comparison *mark;	 /* the type's condition; NULL: none */
	const struct comparison **where; /* the recipe's conditions, or the mark */
	int where_count;
	bool *known; /* [where_count] does any row have the field? */
	struct pair pair;
	struct pair_text *negatives; /* of the pair */
	size_t negatives_room;
};

/* Appends the text of a side. */
void pairs_append_side(struct pairs *pairs, struct buffer *to, int side,
    const struct tree *record, const struct fields_choice *choice);

/* Sets pairs->text to the label of a row; with groups to its document. */
void pairs_set_label(struct pairs *pairs, const struct tree *record);

#endif
