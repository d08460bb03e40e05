#include "mts/mts.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/cursor.h"

struct paste {
	int count;
	struct reader **readers;
	struct cursor **cursors;
	int *first; /* [count] index of a reader's first column in made records */
	struct writer *writer;
	struct tree *properties; /* of the streams so far, the first value of each name */
	struct tree *left_out;	 /* names of properties that differ */
};

/* Copies properties that no stream before had; drops those that differ. */
static void
paste_properties(struct paste *paste, const struct tree *properties)
{
	for (size_t i = 0; i < properties->count; i++) {
		const struct tree *property = properties->items[i];
		const char *key = property->key;
		const struct tree *old = tree_get(paste->properties, key);
		if (!old) {
			tree_set(paste->properties, key, tree_copy(property));
			if (property->kind == TREE_STRING)
				stream_property(paste->writer, key, property->string);
		} else if (!tree_get(paste->left_out, key) &&
			   !tree_equal(old, property)) {
			warn("the property '%s' differs and is left out", key);
			stream_property(paste->writer, key, NULL);
			tree_set(paste->left_out, key, tree_of_boolean(true));
		}
	}
}

static void
paste_columns(struct paste *paste, int r)
{
	const struct reader *reader = paste->readers[r];

	for (int i = 0; i < stream_columns(reader); i++) {
		const struct column *column = stream_column(reader, i);
		for (int other = 0; other < r; other++)
			if (stream_find(paste->readers[other], column->name) >= 0)
				die("column '%s' is in both %s and %s; rename one by 'mts cat --rename %s=NAME'",
				    column->name, stream_name(paste->readers[other]),
				    stream_name(reader), column->name);
		int index = stream_add(paste->writer, column);
		paste->first[r] = i ? paste->first[r] : index;
	}
	paste_properties(paste, stream_properties(reader));
}

/* How many rows can be taken from all; 0 at the end of all. */
static int64_t
rows_in_common(struct paste *paste)
{
	int64_t least = cursor_left(paste->cursors[0]);

	for (int r = 1; r < paste->count; r++) {
		int64_t left = cursor_left(paste->cursors[r]);
		if (!left != !least) {
			int ended = left ? 0 : r, going = left ? r : 0;
			die("%s has only %lld rows, %s has more",
			    stream_name(paste->readers[ended]),
			    (long long)cursor_taken(paste->cursors[ended]),
			    stream_name(paste->readers[going]));
		}
		least = left < least ? left : least;
	}
	return least;
}

static void
paste_rows(struct paste *paste, int64_t rows)
{
	struct record *made = stream_make(paste->writer, NULL);

	made->rows = rows;
	for (int r = 0; r < paste->count; r++) {
		const struct tree *attributes = cursor_attributes(paste->cursors[r]);
		const struct array *arrays = cursor_take(paste->cursors[r], rows);
		for (size_t i = 0; i < attributes->count; i++)
			if (!tree_get(made->attributes, attributes->items[i]->key))
				tree_set(made->attributes, attributes->items[i]->key,
				    tree_copy(attributes->items[i]));
		for (int i = 0; i < stream_columns(paste->readers[r]); i++)
			made->columns[paste->first[r] + i] = arrays[i];
	}
	stream_put(paste->writer, made);
}

void
paste_streams(char **paths, int count, const char *to, int level)
{
	struct paste paste = { .count = count };
	int64_t rows;

	paste.readers = mem_new((size_t)count, sizeof *paste.readers);
	paste.cursors = mem_new((size_t)count, sizeof *paste.cursors);
	paste.first = mem_zero((size_t)count, sizeof *paste.first);
	for (int r = 0; r < count; r++) {
		paste.readers[r] = stream_open(paths[r]);
		paste.cursors[r] = cursor_new(paste.readers[r]);
	}
	paste.writer = stream_create(to, paste.readers[0]);
	stream_level(paste.writer, level);
	paste.properties = tree_copy(stream_properties(paste.readers[0]));
	paste.left_out = tree_object();
	for (int r = 1; r < count; r++)
		paste_columns(&paste, r);
	struct progress *progress = stream_progress(paste.readers[0]);
	while ((rows = rows_in_common(&paste)))
		paste_rows(&paste, rows);
	stream_finish(paste.writer);
	progress_free(progress);
	for (int r = 0; r < count; r++) {
		cursor_free(paste.cursors[r]);
		stream_close(paste.readers[r]);
	}
	tree_free(paste.properties);
	tree_free(paste.left_out);
	free(paste.readers);
	free(paste.cursors);
	free(paste.first);
}
