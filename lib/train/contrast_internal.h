/*
 * contrast_internal - what contrast.c and contrast_open.c share.
 */
#ifndef TRAIN_CONTRAST_INTERNAL_H
#define TRAIN_CONTRAST_INTERNAL_H

#include "encode/text_batch.h"
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
	struct token_column text[SIDES]; /* ids -1: absent */
	int key[SIDES], target;		 /* columns; -1: absent */
	struct record record;
	bool ahead;	       /* `record` was read but not yet taken */
	int64_t pass;	       /* number of the current reading of a file, from 0 */
	int64_t epoch, epochs; /* of the batch; the number of epochs in passes before */
	struct contrast_position position;
	struct text_batch texts; /* of the record: the sides one after another */
	int64_t *keys;
	size_t key_capacity;
	struct loss_keys loss_keys[LOSS_KEYS]; /* of columns; hashes of tokens */
	struct floats targets;
	struct precomputed *precomputed; /* NULL: documents are computed */
	struct batch_sync sync;		 /* with the other ranks, on the batch at hand */
};

/* Opens the stream and finds its columns. */
void contrast_open_stream(struct contrast *contrast);

#endif
