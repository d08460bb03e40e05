#include "search/index_changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "text/datafile.h"

/* An id of the index. */
struct known_id {
	int64_t
	    at; /* a row of its ring: the last one, later the one that the streams had last */
	bool removed; /* by index_changes_remove */
	bool met;     /* the streams have it */
};

/* A row of the index that counts before the change. */
struct known_row {
	uint32_t row;
	int64_t id, next; /* next: of the ring of rows with the same id, in their order */
	bool same;	  /* the streams have the same row */
};

struct index_changes {
	const struct vector_index *index;
	enum index_change change;
	struct strings *names; /* of the index's ids; then those of new rows */
	struct known_id *ids;
	int64_t known; /* ids */
	struct known_row *rows;
	int64_t rows_count;
	uint32_t *places; /* vector_index_places; NULL also if not asked for */
	int64_t missing;  /* ids to remove that the index does not have */
	char *first_missing;
};

static void
add_known(struct index_changes *changes, int64_t row)
{
	const struct vector_index *index = changes->index;
	size_t length;
	bool fresh;
	const char *name = vector_index_id(index, row, &length);
	int64_t id = strings_add(changes->names, name, length, &fresh);
	int64_t own = changes->rows_count++, next = own;

	if (!fresh && !index->passages)
		die("%s: it has two rows with the id '%.*s': the index is damaged; make it again",
		    index->name, (int)(length < 60 ? length : 60), name);
	if (!fresh) {
		struct known_row *last = &changes->rows[changes->ids[id].at];
		next = last->next;
		last->next = own;
	}
	changes->known += fresh;
	changes->ids[id].at = own;
	changes->rows[own] = (struct known_row){ (uint32_t)row, id, next, false };
}

struct index_changes *
index_changes_new(const struct vector_index *index, enum index_change change)
{
	struct index_changes *changes = mem_zero(1, sizeof *changes);
	size_t most = index->ids == ROW_PLACES ? 1 : (size_t)index->passing + 1;

	*changes = (struct index_changes){ .index = index,
		.change = change,
		.names = strings_new(),
		.ids = mem_zero(most, sizeof *changes->ids),
		.rows = mem_new(most, sizeof *changes->rows) };
	for (int64_t row = 0; index->ids != ROW_PLACES && row < index->rows; row++)
		if (!index->removed || !index->removed[row])
			add_known(changes, row);
	return changes;
}

void
index_changes_free(struct index_changes *changes)
{
	strings_free(changes->names);
	free(changes->ids);
	free(changes->rows);
	free(changes->places);
	free(changes->first_missing);
	free(changes);
}

/* Ids to remove. --------------------------------------------------------------------- */

static void
remove_id(struct index_changes *changes, const char *id, size_t length)
{
	int64_t number = strings_find(changes->names, id, length);

	if (number >= 0) {
		changes->ids[number].removed = true;
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
	bool fresh, passages = changes->index->passages;
	int64_t number = strings_add(changes->names, row->id, row->length, &fresh);

	*old = -1;
	if (number >= changes->known)
		return fresh || passages;
	struct known_id *id = &changes->ids[number];
	bool first = !id->met;
	id->met = true;
	if (id->removed)
		return first || passages;
	*old = number;
	return changes->change != INDEX_APPEND && (first || passages);
}

static int64_t
place_of(struct index_changes *changes, uint32_t row)
{
	const struct vector_index *index = changes->index;

	if (!index->places)
		return row;
	if (!changes->places)
		changes->places = vector_index_places(index);
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

	if (tree_get(index->about, "keeps"))
		return true;
	struct known_id *id = &changes->ids[old];
	int64_t i = id->at;
	do { /* usually the rows come in their order */
		i = changes->rows[i].next;
		struct known_row *known = &changes->rows[i];
		if (known->same || !same_text(index, known->row, row) ||
		    !same_vector(index, place_of(changes, known->row), vector))
			continue;
		known->same = true;
		id->at = i;
		return false;
	} while (i != id->at);
	return true;
}

static bool
is_gone(const struct index_changes *changes, const struct known_row *row)
{
	const struct known_id *id = &changes->ids[row->id];

	if (id->removed)
		return true;
	return id->met ? changes->change != INDEX_APPEND && !row->same
		       : changes->change == INDEX_SYNC;
}

uint32_t *
index_changes_end(struct index_changes *changes, int64_t *count)
{
	uint32_t *removed = mem_new((size_t)changes->rows_count + 1, sizeof *removed);

	*count = 0;
	for (int64_t i = 0; i < changes->rows_count; i++)
		if (is_gone(changes, &changes->rows[i]))
			removed[(*count)++] = changes->rows[i].row;
	return removed;
}
