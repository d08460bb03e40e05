#include "encode/with_tokens.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stream/gather.h"

/* The kept rows of a record. */
struct rest {
	struct gather *gathers; /* [columns] */
	struct array *columns;	/* [columns] */
};

struct with_tokens {
	const struct reader *in;
	int columns;
	bool *ids;	     /* [columns] */
	struct rest rest[2]; /* by turns */
	struct row_ref *places;
	size_t room;
	int turn;
	int64_t dropped;
};

struct with_tokens *
with_tokens_new(const struct reader *in)
{
	struct with_tokens *with = mem_zero(1, sizeof *with);
	size_t count = (size_t)stream_columns(in);

	with->in = in;
	with->columns = stream_columns(in);
	with->ids = mem_zero(count, sizeof *with->ids);
	for (int i = 0; i < with->columns; i++) {
		const struct column *column = stream_column(in, i);
		const char *end = strrchr(column->name, '.');
		with->ids[i] = end && !strcmp(end, ".ids") && column->depth > 0;
	}
	for (int i = 0; i < 2; i++)
		with->rest[i] =
		    (struct rest){ mem_zero(count, sizeof *with->rest[i].gathers),
			    mem_zero(count, sizeof *with->rest[i].columns) };
	return with;
}

/* Whether one of the lists first..last-1 has no element. */
static bool
any_empty(const int64_t *offsets, int64_t first, int64_t last)
{
	for (int64_t i = first; i < last; i++)
		if (offsets[i] == offsets[i + 1])
			return true;
	return false;
}

static bool
has_tokens(const struct with_tokens *with, const struct record *record, int64_t row)
{
	for (int i = 0; i < with->columns; i++) {
		const int64_t *const *offsets = record->columns[i].offsets;
		bool lists = stream_column(with->in, i)->depth == 2;
		if (with->ids[i] &&
		    (lists ? any_empty(offsets[1], offsets[0][row], offsets[0][row + 1])
			   : any_empty(offsets[0], row, row + 1)))
			return false;
	}
	return true;
}

void
with_tokens_take(struct with_tokens *with, struct record *record)
{
	struct rest *rest = &with->rest[with->turn ^= 1];
	int64_t rows = 0;

	with->places = mem_grow(
	    with->places, &with->room, (size_t)record->rows + 1, sizeof *with->places);
	for (int64_t row = 0; row < record->rows; row++)
		if (has_tokens(with, record, row))
			with->places[rows++] = (struct row_ref){ record->columns, row };
	if (rows == record->rows)
		return;
	with->dropped += record->rows - rows;
	for (int i = 0; i < with->columns; i++)
		rest->columns[i] = gather_rows(
		    &rest->gathers[i], stream_column(with->in, i), i, with->places, rows);
	record->columns = rest->columns;
	record->rows = rows;
}

int64_t
with_tokens_dropped(const struct with_tokens *with)
{
	return with->dropped;
}

void
with_tokens_free(struct with_tokens *with)
{
	if (!with)
		return;
	for (int r = 0; r < 2; r++) {
		for (int i = 0; i < with->columns; i++)
			gather_free(&with->rest[r].gathers[i]);
		free(with->rest[r].gathers);
		free(with->rest[r].columns);
	}
	free(with->places);
	free(with->ids);
	free(with);
}
