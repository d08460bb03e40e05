/*
 * The folder of an index.  Each file follows its length (u32): index.json, columns.f32, cells.f32, the files of
 * vector_index_names, removed.u32.  Checksums are computed here, because a change would otherwise stop at them.  Reads all rows, and
 * searches the graph for a query.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "nn/nn.h"
#include "search/hashed_file.h"
#include "search/vector_index.h"
#include "search/vector_walk.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = INDEX_FILES + 4, MOST_ROWS = 4096, MOST_WIDTH = 256 };

struct piece {
	const char *name;
	const uint8_t *data;
	size_t size;
};

static void
set_hash(struct tree *about, const char *key, const void *bytes, size_t size)
{
	char hash[HASH_ROOM];

	hash_bytes(hash, bytes, size);
	tree_set(about, key, tree_of_string(hash));
}

/* Writes index.json with the checksums of the other files and its own. */
static void
seal(const struct piece *pieces)
{
	struct tree *about =
	    json_parse((const char *)pieces[0].data, pieces[0].size, INDEX_ABOUT, 1);

	if (about->kind != TREE_OBJECT) {
		tree_free(about);
		return;
	}
	set_hash(about, "columns", pieces[1].data, pieces[1].size);
	set_hash(about, "centroids", pieces[2].data, pieces[2].size);
	struct tree *removed = tree_get(about, "removed");
	if (removed && removed->kind == TREE_OBJECT)
		set_hash(removed, "hash", pieces[FILES - 1].data, pieces[FILES - 1].size);
	char *sealed = vector_index_seal(about);
	set_hash(about, "checksum", sealed, strlen(sealed));
	char *text = json_text(about, 0);
	harness_file(INDEX_ABOUT, text, strlen(text));
	free(text);
	free(sealed);
	tree_free(about);
}

static size_t
read_bytes(const char *text, size_t length)
{
	size_t sum = 0;

	for (size_t i = 0; i < length; i++)
		sum += (unsigned char)text[i];
	return sum;
}

static void
read_rows(const struct vector_index *index)
{
	float room[MOST_WIDTH];
	size_t length = 0, sum = 0;

	for (int64_t i = 0; i < index->rows; i++) {
		uint32_t row = vector_index_row(index, i);
		if (row >= index->rows)
			abort();
		sum += vector_index_vector(index, i, room)[0] > 0;
		sum += vector_index_order(index, row, 0) > 0;
		if (vector_index_has(index, INDEX_IDS)) {
			const char *id = vector_index_id(index, row, &length);
			sum += read_bytes(id, length);
		}
		if (index->texts) {
			const char *text = vector_index_text(index, row, &length);
			sum += read_bytes(text, length);
		}
	}
	for (int64_t part = 0; part < index->parts; part++)
		for (int cell = 0; cell < index->cells; cell++) {
			struct cell_span span =
			    vector_index_cell(index, part, (uint32_t)cell);
			sum += span.first < span.end;
		}
	if (sum == SIZE_MAX)
		abort();
}

/* Searches along the graph only: other searches use OpenMP, whose memory the harness must not free when a run dies. */
static void
search(const struct vector_index *index)
{
	static const uint32_t excluded = UINT32_MAX;
	static const struct vector_search_options options = {
		.depth = 3, .threshold = -1, .excluded = &excluded, .beam = 8
	};
	float query[MOST_WIDTH];
	struct hits hits;

	for (int i = 0; i < index->width; i++)
		query[i] = (float)(i % 3 - 1);
	if (index->degree)
		free(vector_walk(index, query, 1, &options, &hits));
}

static void
run(void *context)
{
	seal(context);
	struct vector_index *index = vector_index_open(harness_folder());
	if (index->rows <= MOST_ROWS && index->width <= MOST_WIDTH) {
		read_rows(index);
		search(index);
	}
	vector_index_close(index);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct piece pieces[FILES] = { { INDEX_ABOUT, NULL, 0 },
		{ INDEX_COLUMNS, NULL, 0 }, { INDEX_CENTROIDS, NULL, 0 } };

	pieces[FILES - 1].name = INDEX_REMOVED;
	for (int i = 3; i < FILES - 1; i++)
		pieces[i].name = vector_index_names[i - 3];
	for (int i = 0; i < FILES; i++) {
		uint32_t length = 0;
		if (size >= 4) {
			memcpy(&length, data, 4);
			data += 4;
			size -= 4;
			length = length < size ? length : (uint32_t)size;
			pieces[i].data = data;
			pieces[i].size = length;
			data += length;
			size -= length;
		}
		harness_file(pieces[i].name, pieces[i].data, pieces[i].size);
	}
	nn_use_threads(1); /* OpenMP keeps the memory of its first call */
	if (pieces[0].data)
		harness_run(run, pieces);
	return 0;
}
