/*
 * sync - ranks (ranks.h) agree on a batch before they take it: each says what its record is, and hears the others.
 */
#ifndef TRAIN_BATCH_SYNC_H
#define TRAIN_BATCH_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "train/loss.h"

enum sync_state {
	SYNC_LEFT = -1, /* this rank takes no further part */
	SYNC_END,	/* its data have ended */
	SYNC_BATCH
};

struct sync_message {
	enum sync_state state;
	int64_t rows, negatives, record, step;
	uint64_t of;   /* a hash of what must be the same: step, task, temperature ... */
	uint64_t hash; /* of the tokens, a sum over rows: whichever rank has a row */
};

struct batch_sync {
	struct sync_message *notes; /* [ranks] */
	size_t *rows, *negatives;   /* [ranks + 1], as in struct loss_parts */
	bool left;		    /* some rank has */
	bool awaited;		    /* the others wait, or will, for what this one says */
};

void batch_sync_open(struct batch_sync *sync);
void batch_sync_close(struct batch_sync *sync);

/* Whether all ranks have a batch.  Dies, naming this rank's stream, where it is not the first rank's. */
bool batch_sync_exchange(
    struct batch_sync *sync, const struct sync_message *own, const char *stream);

/* Of the batch: its rows of all ranks, the sum of their hashes, and whose rows are whose. */
int64_t batch_sync_rows(const struct batch_sync *sync);
uint64_t batch_sync_hash(const struct batch_sync *sync);
struct loss_parts batch_sync_parts(const struct batch_sync *sync);

#endif
