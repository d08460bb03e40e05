/*
 * meeting - ranks (ranks.h) agree on a batch before they take it: each says what its record is, and hears the others.
 */
#ifndef TRAIN_MEETING_H
#define TRAIN_MEETING_H

#include <stdbool.h>
#include <stdint.h>

#include "train/loss.h"

enum meeting_state {
	MEETING_LEFT = -1, /* this rank takes no further part */
	MEETING_END,	   /* its data have ended */
	MEETING_BATCH
};

struct meeting_note {
	enum meeting_state state;
	int64_t rows, negatives, record, step;
	uint64_t of;   /* a hash of what must be the same: step, task, temperature ... */
	uint64_t hash; /* of the tokens, a sum over rows: whichever rank has a row */
};

struct meeting {
	struct meeting_note *notes; /* [ranks] */
	size_t *rows, *negatives;   /* [ranks + 1], as in struct loss_parts */
	bool left;		    /* some rank has */
	bool awaited;		    /* the others wait, or will, for what this one says */
};

void meeting_open(struct meeting *meeting);
void meeting_close(struct meeting *meeting);

/* Whether all ranks have a batch.  Dies, naming this rank's stream, where it is not the first rank's. */
bool meeting_hold(
    struct meeting *meeting, const struct meeting_note *own, const char *stream);

/* Of the batch: its rows of all ranks, the sum of their hashes, and whose rows are whose. */
int64_t meeting_rows(const struct meeting *meeting);
uint64_t meeting_hash(const struct meeting *meeting);
struct loss_parts meeting_parts(const struct meeting *meeting);

#endif
