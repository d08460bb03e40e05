#include "train/batch_sync.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "ranks/ranks.h"

void
batch_sync_open(struct batch_sync *sync, bool alone)
{
	size_t ranks = alone ? 1 : (size_t)ranks_count();

	*sync = (struct batch_sync){
		.ranks = (int)ranks,
		.own = alone ? 0 : ranks_own(),
		.messages = mem_zero(ranks, sizeof *sync->messages),
		.rows = mem_zero(ranks + 1, sizeof *sync->rows),
		.negatives = mem_zero(ranks + 1, sizeof *sync->negatives),
	};
}

void
batch_sync_close(struct batch_sync *sync)
{
	free(sync->messages);
	free(sync->rows);
	free(sync->negatives);
}

static void
compare(
    const struct sync_message *own, const struct sync_message *first, const char *name)
{
	bool ends = own->state == SYNC_END;

	if (own->state != first->state)
		die("%s: %s where the first rank's %s: all of them must be made by the same recipe, seed and number of steps",
		    name, ends ? "ends" : "has another batch",
		    ends ? "has another batch" : "ends");
	if (own->attributes != first->attributes)
		die("%s: record %lld, of step %lld, is not of the batch of the first rank's record %lld, of step %lld: tasksample must make both by one recipe and seed",
		    name, (long long)own->record, (long long)own->step,
		    (long long)first->record, (long long)first->step);
}

bool
batch_sync_exchange(
    struct batch_sync *sync, const struct sync_message *own, const char *stream)
{
	int ranks = sync->ranks;

	sync->awaited = false;
	if (ranks == 1)
		sync->messages[0] = *own;
	else
		ranks_gather(sync->messages, own, sizeof *own);
	for (int r = 0; r < ranks; r++)
		sync->left |= sync->messages[r].state == SYNC_LEFT;
	if (sync->left)
		return false;
	compare(own, sync->messages, stream);
	for (int r = 0; r < ranks; r++) {
		const struct sync_message *message = &sync->messages[r];
		sync->rows[r + 1] = sync->rows[r] + (size_t)message->rows;
		sync->negatives[r + 1] = sync->negatives[r] + (size_t)message->negatives;
	}
	return own->state == SYNC_BATCH;
}

int64_t
batch_sync_rows(const struct batch_sync *sync)
{
	return (int64_t)sync->rows[sync->ranks];
}

uint64_t
batch_sync_hash(const struct batch_sync *sync)
{
	uint64_t sum = 0;

	for (int r = 0; r < sync->ranks; r++)
		sum += sync->messages[r].tokens;
	return sum;
}

struct loss_parts
batch_sync_parts(const struct batch_sync *sync)
{
	return (struct loss_parts){ sync->rows, sync->negatives };
}
