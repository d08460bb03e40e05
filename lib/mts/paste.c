#include "mts/mts.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/cursor.h"
#include "stream/values.h"

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
			if (!tree_get(paste->left_out, key) &&
			    property->kind == TREE_STRING)
				stream_property(paste->writer, key, property->string);
		} else if (!tree_get(paste->left_out, key) &&
			   !tree_equal(old, property)) {
			warn("the property '%s' differs and is left out", key);
			stream_property(paste->writer, key, NULL);
			tree_set(paste->left_out, key, tree_of_boolean(true));
		}
	}
}

static bool
has_embedding(const struct reader *reader)
{
	for (int i = 0; i < stream_columns(reader); i++)
		if (values_is_embedding(stream_column(reader, i)))
			return true;
	return false;
}

/* Of embeddings of a model, the absence of these properties says something, too: drops those that only one stream has. */
static void
paste_absent(struct paste *paste, const struct reader *one, const struct reader *other)
{
	static const char *const keys[] = { "similarity", "emb" };
	const struct tree *here = stream_properties(one),
			  *there = stream_properties(other);

	if (!has_embedding(one) || !has_embedding(other) || !tree_get(here, "model") ||
	    !tree_get(there, "model"))
		return;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!tree_get(here, keys[i]) == !tree_get(there, keys[i]) ||
		    tree_get(paste->left_out, keys[i]))
			continue;
		warn("the property '%s' is not that of all embeddings and is left out",
		    keys[i]);
		stream_property(paste->writer, keys[i], NULL);
		tree_set(paste->left_out, keys[i], tree_of_boolean(true));
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
	for (int other = 0; other < r; other++)
		paste_absent(paste, paste->readers[other], reader);
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

/* Adds the attributes that are not there; of objects, as "prompt_tokens", the members that are not there: each field has its own. */
static void
paste_attributes(struct tree *to, const struct tree *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tree *attribute = from->items[i];
		struct tree *old = tree_get(to, attribute->key);
		if (!old)
			tree_set(to, attribute->key, tree_copy(attribute));
		else if (old->kind == TREE_OBJECT && attribute->kind == TREE_OBJECT)
			paste_attributes(old, attribute);
	}
}

static void
paste_rows(struct paste *paste, int64_t rows)
{
	struct record *made = stream_make(paste->writer, NULL);

	made->rows = rows;
	for (int r = 0; r < paste->count; r++) {
		const struct tree *attributes = cursor_attributes(paste->cursors[r]);
		const struct array *arrays = cursor_take(paste->cursors[r], rows);
		paste_attributes(made->attributes, attributes);
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
