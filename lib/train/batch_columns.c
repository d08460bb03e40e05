#include "train/batch_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "ranks/ranks.h"
#include "text/tree.h"

static bool
has_ids(const struct column *column)
{
	const char *dot = strrchr(column->name, '.');

	return dot && strcmp(dot, ".ids") == 0;
}

int
batch_only_ids(const struct reader *reader)
{
	int found = -1;

	for (int i = 0; i < stream_columns(reader); i++) {
		if (!has_ids(stream_column(reader, i)))
			continue;
		if (found >= 0)
			return -2;
		found = i;
	}
	return found;
}

int
batch_target_column(const struct reader *reader, const struct model *model)
{
	static const char name[] = "relation.target";
	int index = stream_find(reader, name), width = 2 * model_width(model);

	if (index < 0)
		die("%s: there is no column \"%s\", to which --reze holds the model; reze-stats apply makes it",
		    stream_name(reader), name);
	const struct column *column = stream_column(reader, index);
	if (column->depth != 0 || column->rank != 1 || !dtype_is_float(column->dtype) ||
	    column->shape[0] != width)
		die("%s: column \"%s\" is not of vectors of %d components, twice the width of %s",
		    stream_name(reader), name, width, model_dir(model));
	return index;
}

void
batch_check_targets(const struct reader *reader, const struct model *model)
{
	const char *made = tree_string(stream_properties(reader), "model", NULL);

	if (made && strcmp(made, model_fingerprint(model)) != 0)
		warn(
		    "%s: the targets are of another model than %s, which learns from them",
		    stream_name(reader), model_dir(model));
}

void
batch_check_rank(const struct reader *reader)
{
	const struct tree *properties = stream_properties(reader);
	const char *name = stream_name(reader);
	long rank = strtol(tree_string(properties, "rank", "0"), NULL, 10);
	long ranks = strtol(tree_string(properties, "ranks", "1"), NULL, 10);

	if (ranks == ranks_count() && rank == ranks_own())
		return;
	if (ranks == 1)
		die("%s: has whole batches, and each of %d ranks would learn the same; tasksample --rank %d --ranks %d makes a rank's",
		    name, ranks_count(), ranks_own(), ranks_count());
	die("%s: is for rank %ld of %ld, but is read by rank %d of %d", name, rank, ranks,
	    ranks_own(), ranks_count());
}

void
batch_tell_unread(const struct reader *reader, const int *read, int count)
{
	for (int i = 0; i < stream_columns(reader); i++) {
		const struct column *column = stream_column(reader, i);
		bool unread = has_ids(column);
		for (int k = 0; k < count; k++)
			unread &= read[k] != i;
		if (unread)
			warn(
			    "%s: column \"%s\" is not trained on; hard negatives are in \"negatives.ids\", which tok -f negatives=%.*s makes",
			    stream_name(reader), column->name,
			    (int)(strlen(column->name) - strlen(".ids")), column->name);
	}
}

void
batch_keys(int64_t *keys, int64_t *tokens, const struct reader *reader,
    const struct record *record, int index, const struct sequence *sequences,
    int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		tokens[i] = (int64_t)rng_hash(0, sequences[i].ids,
		    (size_t)sequences[i].length * sizeof *sequences[i].ids);
	if (index < 0 || !count) {
		memcpy(keys, tokens, (size_t)count * sizeof *keys);
		return;
	}
	const struct column *column = stream_column(reader, index);
	const struct array *array = &record->columns[index];
	if (column->rank || column_elements(column, array, record->rows) != count)
		die("%s: record %lld: the column has another number of keys than there are sequences",
		    stream_name(reader), (long long)stream_records(reader));
	memcpy(keys, array->data, (size_t)count * sizeof *keys);
}

uint64_t
batch_hash_row(uint64_t hash, const struct reader *reader, const struct record *record,
    int index, int64_t row)
{
	if (index < 0)
		return hash;
	const struct column *column = stream_column(reader, index);
	const struct array *array = &record->columns[index];
	int64_t first = row, past = row + 1;
	for (int level = 0; level < column->depth; level++) {
		const int64_t *offsets = array->offsets[level];
		for (int64_t i = first; i < past; i++) {
			int64_t length = offsets[i + 1] - offsets[i];
			hash = rng_hash(hash, &length, sizeof length);
		}
		first = offsets[first];
		past = offsets[past];
	}
	size_t bytes = column_element_size(column);
	return rng_hash(hash, (const char *)array->data + (size_t)first * bytes,
	    (size_t)(past - first) * bytes);
}
