/*
 * contrast_internal - what contrast.c and contrast_open.c share.
 */
#ifndef TRAIN_CONTRAST_INTERNAL_H
#define TRAIN_CONTRAST_INTERNAL_H

#include "model/batch.h"
#include "stream/stream.h"
#include "stream/values.h"
#include "train/contrast.h"
#include "train/batch_sync.h"
#include "train/precomputed.h"

enum side { QUERY, DOCUMENT, NEGATIVES, SIDES };

extern const char *const contrast_sides[];

struct contrast {
	struct reader *reader;
	struct model *model;
	struct contrast_options options;
	char *path;
	int ids[SIDES], key[SIDES], expert[SIDES], target; /* columns; -1: absent */
	struct record record;
	bool ahead;	       /* record was read but not yet taken */
	int64_t pass;	       /* of a file, from 0 */
	int64_t epoch, epochs; /* of the batch at hand; in the passes that are over */
	struct contrast_position position;
	struct sequence *sequences;
	struct batch batch; /* one side, to be looked at by the model */
	int64_t *keys;
	size_t sequence_capacity, key_capacity;
	struct loss_keys loss_keys[LOSS_KEYS]; /* the columns'; of the tokens */
	struct floats targets;
	struct precomputed *precomputed; /* NULL: documents are computed */
	struct batch_sync sync;		 /* with the other ranks, on the batch at hand */
};

/* Open the stream and find its columns. */
void contrast_open_stream(struct contrast *contrast);

#endif
