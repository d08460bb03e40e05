/*
 * batch_sync - before ranks (ranks.h) take a batch, they exchange messages about their records, and check that all are of one batch.
 */
#ifndef TRAIN_BATCH_SYNC_H
#define TRAIN_BATCH_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "train/loss.h"

enum sync_state {
	SYNC_LEFT = -1, /* this rank stops */
	SYNC_END,	/* its data have ended */
	SYNC_BATCH
};

struct sync_message {
	enum sync_state state;
	int64_t rows, negatives, record, step;
	uint64_t
	    attributes;	 /* hash of step, task, temperature ..., which must be equal */
	uint64_t tokens; /* sum of the rows' hashes, the same however rows are divided */
};

struct batch_sync {
	int ranks, own;
	struct sync_message *messages; /* [ranks] */
	size_t *rows, *negatives;      /* [ranks + 1], as in struct loss_parts */
	bool left;		       /* some rank has stopped */
	bool awaited; /* the others wait, or will wait, for this rank's message */
};

/* alone: this rank reads whole batches of its own, and sends nothing. */
void batch_sync_open(struct batch_sync *sync, bool alone);
void batch_sync_close(struct batch_sync *sync);

/* Sends `own` and receives the others' messages.  Returns whether all ranks have a batch; dies, naming this rank's stream, if its
 * batch is not the first rank's. */
bool batch_sync_exchange(
    struct batch_sync *sync, const struct sync_message *own, const char *stream);

/* The batch of all ranks: its rows, the hash of its tokens, and the ranks' parts. */
int64_t batch_sync_rows(const struct batch_sync *sync);
uint64_t batch_sync_hash(const struct batch_sync *sync);
struct loss_parts batch_sync_parts(const struct batch_sync *sync);

#endif
