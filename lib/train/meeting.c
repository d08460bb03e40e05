#include "train/meeting.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "ranks/ranks.h"

void
meeting_open(struct meeting *meeting)
{
	size_t ranks = (size_t)ranks_count();

	*meeting = (struct meeting){
		.notes = mem_zero(ranks, sizeof *meeting->notes),
		.rows = mem_zero(ranks + 1, sizeof *meeting->rows),
		.negatives = mem_zero(ranks + 1, sizeof *meeting->negatives),
	};
}

void
meeting_close(struct meeting *meeting)
{
	free(meeting->notes);
	free(meeting->rows);
	free(meeting->negatives);
}

static void
compare(
    const struct meeting_note *own, const struct meeting_note *first, const char *name)
{
	bool ends = own->state == MEETING_END;

	if (own->state != first->state)
		die("%s: %s where the first rank's %s: all of them must be made by the same recipe, seed and number of steps",
		    name, ends ? "ends" : "has another batch",
		    ends ? "has another batch" : "ends");
	if (own->of != first->of)
		die("%s: record %lld, of step %lld, is not of the batch of the first rank's record %lld, of step %lld: tasksample must make both by one recipe and seed",
		    name, (long long)own->record, (long long)own->step,
		    (long long)first->record, (long long)first->step);
}

bool
meeting_hold(struct meeting *meeting, const struct meeting_note *own, const char *stream)
{
	int ranks = ranks_count();

	meeting->awaited = false;
	ranks_gather(meeting->notes, own, sizeof *own);
	for (int r = 0; r < ranks; r++)
		meeting->left |= meeting->notes[r].state == MEETING_LEFT;
	if (meeting->left)
		return false;
	compare(own, meeting->notes, stream);
	for (int r = 0; r < ranks; r++) {
		const struct meeting_note *note = &meeting->notes[r];
		meeting->rows[r + 1] = meeting->rows[r] + (size_t)note->rows;
		meeting->negatives[r + 1] =
		    meeting->negatives[r] + (size_t)note->negatives;
	}
	return own->state == MEETING_BATCH;
}

int64_t
meeting_rows(const struct meeting *meeting)
{
	return (int64_t)meeting->rows[ranks_count()];
}

uint64_t
meeting_hash(const struct meeting *meeting)
{
	uint64_t sum = 0;

	for (int r = 0; r < ranks_count(); r++)
		sum += meeting->notes[r].hash;
	return sum;
}

struct loss_parts
meeting_parts(const struct meeting *meeting)
{
	return (struct loss_parts){ meeting->rows, meeting->negatives };
}
