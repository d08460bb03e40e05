#include "search/index_changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "text/datafile.h"

/* The state of a row of the index. */
enum { UNTOUCHED, REMOVED, MET /* and kept */, REPLACED };

struct index_changes {
	const struct vector_index *index;
	enum index_change change;
	struct strings *
	    ids; /* of the index, in the order of its rows that count; then of new rows */
	int64_t known;	/* of the index */
	uint32_t *rows; /* [known], the row of each id */
	uint8_t *state; /* [known] */
	bool *again;	/* [known]: a removed one that the streams have */
	uint32_t *
	    places; /* [index->rows], of each row's vector; NULL: not asked for, or their order is that of the rows */
	int64_t
	    missing; /* ids that are to be removed, and that the index does not have */
	char *first_missing;
};

struct index_changes *
index_changes_new(const struct vector_index *index, enum index_change change)
{
	struct index_changes *changes = mem_zero(1, sizeof *changes);
	size_t most = (size_t)index->passing + 1;

	*changes = (struct index_changes){ .index = index,
		.change = change,
		.ids = strings_new(),
		.rows = mem_new(most, sizeof *changes->rows),
		.state = mem_zero(most, sizeof *changes->state),
		.again = mem_zero(most, sizeof *changes->again) };
	for (int64_t row = 0; index->ids != ROW_PLACES && row < index->rows; row++) {
		size_t length;
		bool fresh;
		if (index->removed && index->removed[row])
			continue;
		const char *id = vector_index_id(index, row, &length);
		strings_add(changes->ids, id, length, &fresh);
		if (!fresh)
			die("%s: it has two rows with the id '%.*s': the index is damaged; make it again",
			    index->name, (int)(length < 60 ? length : 60), id);
		changes->rows[changes->known++] = (uint32_t)row;
	}
	return changes;
}

void
index_changes_free(struct index_changes *changes)
{
	strings_free(changes->ids);
	free(changes->rows);
	free(changes->state);
	free(changes->again);
	free(changes->places);
	free(changes->first_missing);
	free(changes);
}

/* Ids to remove. --------------------------------------------------------------------- */

static void
remove_id(struct index_changes *changes, const char *id, size_t length)
{
	int64_t number = strings_find(changes->ids, id, length);

	if (number >= 0) {
		changes->state[number] = REMOVED;
		return;
	}
	if (!length) /* a blank line */
		return;
	if (!changes->missing++)
		changes->first_missing = mem_string(id);
}

/* Removes the row that a record of the file names. */
static void
remove_named(
    struct index_changes *changes, const struct datafile *file, const struct tree *record)
{
	static const char *const names[] = { "_id", "id", "text" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct tree *id = tree_get(record, names[i]);
		if (!id || (!strcmp(names[i], "text") && record->count > 1))
			continue;
		if (id->kind == TREE_STRING) {
			remove_id(changes, id->string, id->length);
			return;
		}
		if (id->kind == TREE_INTEGER) {
			char *digits = mem_format("%lld", (long long)id->integer);
			remove_id(changes, digits, strlen(digits));
			free(digits);
			return;
		}
	}
	datafile_die(file,
	    "there is no '_id' or 'id', a text or an integer; expected are ids, one a line, or a table with such a column");
}

void
index_changes_remove(struct index_changes *changes, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);

	for (struct tree *record; (record = datafile_next(file));)
		remove_named(changes, file, record);
	if (changes->missing)
		warn("%s: the index does not have %lld of its ids; first: '%.60s'",
		    datafile_name(file), (long long)changes->missing,
		    changes->first_missing);
	datafile_warn_repaired(file);
	datafile_close(file);
}

/* Rows of the streams. --------------------------------------------------------------- */

bool
index_changes_meet(struct index_changes *changes, const struct row *row, int64_t *old)
{
	bool fresh;
	int64_t number = strings_add(changes->ids, row->id, row->length, &fresh);

	*old = -1;
	if (fresh)
		return true;
	if (number >= changes->known)
		return false;
	if (changes->state[number] == REMOVED) {
		bool first = !changes->again[number];
		changes->again[number] = true;
		return first;
	}
	if (changes->state[number] != UNTOUCHED)
		return false;
	changes->state[number] = MET;
	*old = number;
	return changes->change != INDEX_APPEND;
}

static int64_t
place_of(struct index_changes *changes, uint32_t row)
{
	const struct vector_index *index = changes->index;

	if (!index->places)
		return row;
	if (!changes->places) {
		changes->places = mem_zero((size_t)index->rows, sizeof *changes->places);
		for (int64_t place = 0; place < index->rows; place++)
			changes->places[vector_index_row(index, place)] = (uint32_t)place;
	}
	return changes->places[row];
}

/* By its numbers, or, if the index has none, by their codes. */
static bool
same_vector(const struct vector_index *index, int64_t place, const float *vector)
{
	size_t width = (size_t)index->width, stride = codes_stride(index->width);

	if (!index->codes_only)
		return !memcmp(index->vectors + (size_t)place * width, vector,
		    width * sizeof *vector);
	uint8_t *codes = mem_new(stride, sizeof *codes);
	uint64_t *bits = mem_new(codes_words(index->width), sizeof *bits);
	(void)codes_encode(codes, bits, vector, &index->columns, index->width);
	bool same = !memcmp(index->codes + (size_t)place * stride, codes, stride);
	free(codes);
	free(bits);
	return same;
}

static bool
same_text(const struct vector_index *index, uint32_t number, const struct row *row)
{
	size_t length;

	if (!index->texts)
		return true;
	const char *text = vector_index_text(index, number, &length);
	return length == row->text_length && !memcmp(text, row->text, length);
}

bool
index_changes_replace(struct index_changes *changes, int64_t old, const struct row *row,
    const float *vector)
{
	const struct vector_index *index = changes->index;
	uint32_t number = changes->rows[old];

	if (!tree_get(index->about, "keeps") && same_text(index, number, row) &&
	    same_vector(index, place_of(changes, number), vector))
		return false;
	changes->state[old] = REPLACED;
	return true;
}

uint32_t *
index_changes_end(struct index_changes *changes, int64_t *count)
{
	uint32_t *removed = mem_new((size_t)changes->known + 1, sizeof *removed);

	*count = 0;
	for (int64_t i = 0; i < changes->known; i++) {
		uint8_t state = changes->state[i];
		bool gone = state == REMOVED || state == REPLACED ||
			    (state == UNTOUCHED && changes->change == INDEX_SYNC);
		if (gone)
			removed[(*count)++] = changes->rows[i];
	}
	return removed;
}
