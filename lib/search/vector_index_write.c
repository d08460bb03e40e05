#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "search/index_addition.h"

/* Writes index.json, which makes the new files count. */
static void
write_about(struct index_addition *adding, struct tree *about)
{
	char hash[HASH_ROOM];

	tree_remove(about, "checksum");
	char *text = vector_index_seal(about);
	hash_bytes(hash, text, strlen(text));
	free(text);
	tree_set(about, "checksum", tree_of_string(hash));
	folder_write_json(adding->folder, INDEX_ABOUT, about);
}

static struct rows *
open_rows(const struct vector_index_options *options)
{
	return rows_open(options->streams, options->count, "rows", options->field, NULL,
	    false, NULL, false, options->similarity);
}

static struct tree *
describe(const struct index_addition *adding, const struct vector_index_options *options)
{
	const struct vector_index *index = adding->index;
	const struct vectors *vectors = rows_vectors(adding->rows);
	struct tree *about = tree_object(), *stream = stream_about(vectors->reader);
	char *field = rows_field(adding->rows);

	tree_set(about, "format", tree_of_string(INDEX_FORMAT));
	tree_set(
	    about, "version", tree_of_integer(index->cells || index->codes_only ? 2 : 1));
	tree_set(about, "width", tree_of_integer(index->width));
	tree_set(about, "similarity", tree_of_string(similarity_name(index->similarity)));
	tree_set(about, "ids", tree_of_string(vector_index_ids[index->ids]));
	tree_set(about, "texts", tree_of_boolean(index->texts));
	tree_set(about, "field", tree_of_string(field));
	tree_set(about, "column",
	    tree_of_string(stream_column(vectors->reader, vectors->column)->name));
	tree_set(about, "kind", tree_of_string(vectors_kind(vectors)));
	tree_set(about, "properties", tree_copy(tree_get(stream, "properties")));
	tree_set(about, "history", tree_copy(tree_get(stream, "history")));
	if (index->codes_only)
		tree_set(about, "codes_only", tree_of_boolean(true));
	if (index->passages) {
		tree_set(about, "passages", tree_of_boolean(true));
		tree_set(about, "version", tree_of_integer(INDEX_CHANGED));
	}
	if (index->cells)
		tree_set(about, "cells", tree_of_integer(index->cells));
	if (index->degree)
		tree_set(about, "graph", tree_of_integer(index->degree));
	if (options->kept_count) {
		struct tree *keeps = tree_list();
		for (int i = 0; i < options->kept_count; i++)
			tree_add(keeps, tree_of_string(options->kept[i]));
		tree_set(about, "keeps", keeps);
	}
	tree_set(about, "parts", tree_list());
	tree_free(stream);
	free(field);
	return about;
}

/* Dies unless the folder can be made: it must not exist, or be empty. */
static void
check_free(const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	struct stat status;

	if (!list && lstat(folder, &status))
		return;
	while (list && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			die("%s: exists%s; choose another name, or remove it first",
			    folder,
			    vector_index_is(folder) ? " (--append adds rows to it)" : "");
	if (!list)
		die("%s: exists and is not a folder that can be read; choose another name",
		    folder);
	closedir(list);
}

void
vector_index_make(const char *folder, const struct vector_index_options *options)
{
	struct vector_index index = { .name = (char *)folder };
	struct index_addition adding = { .index = &index };

	if (options->cells && options->degree)
		die_usage("index: --cells and --graph exclude each other");
	struct lock *lock = lock_take(folder);
	check_free(folder);
	adding.rows = open_rows(options);
	index.similarity = rows_similarity(adding.rows, options->similarity);
	if (index.similarity != SIMILARITY_COSINE && index.similarity != SIMILARITY_DOT)
		die("%s: its model compares by %s, and a search knows cosine and dot: say --similarity",
		    rows_stream(adding.rows), similarity_name(index.similarity));
	index.width = rows_vectors(adding.rows)->width;
	index.ids = rows_ids(adding.rows);
	index.texts = rows_have_texts(adding.rows);
	index.cells = options->cells;
	index.degree = options->degree;
	index.codes_only = options->codes_only;
	index.passages = options->passages;
	if (index.passages && index.ids == ROW_PLACES)
		die("%s: its rows have no ids, by which --best knows the passages of a document",
		    rows_stream(adding.rows));
	struct tree *about = describe(&adding, options);
	char *temporary = folder_begin(folder);
	adding.folder = temporary;
	adding.ranges = code_ranges_new(index.width);
	adding.changes = index_changes_new(&index, INDEX_APPEND);
	index_addition_put(&adding, about);
	write_about(&adding, about);
	index_changes_free(adding.changes);
	rows_close(adding.rows);
	file_view_close(&index.columns_view);
	file_view_close(&index.centroids_view);
	tree_free(about);
	folder_commit(temporary, folder);
	lock_end(lock);
}

/* Changes. --------------------------------------------------------------------------- */

/* Dies unless the streams' rows can be rows of the index. */
static void
check_alike(
    const struct index_addition *adding, const struct vector_index_options *options)
{
	const struct vector_index *index = adding->index;
	struct vectors_origin origin = vector_index_origin(index);
	enum similarity similarity =
	    vectors_said_similarity(rows_vectors(adding->rows)->reader, "similarity",
		index->similarity, options->similarity);

	rows_agree_with(adding->rows, &origin);
	if (rows_ids(adding->rows) != index->ids)
		die("%s: its rows have %s, those of %s %s: they are not one corpus",
		    rows_stream(adding->rows),
		    rows_ids(adding->rows) == ROW_PLACES ? "no ids"
							 : "ids of another kind",
		    index->name, index->ids == ROW_PLACES ? "none" : "ids");
	if (rows_have_texts(adding->rows) != index->texts)
		die("%s: its rows have %s, those of %s %s: make both alike",
		    rows_stream(adding->rows), index->texts ? "no texts" : "texts",
		    index->name, index->texts ? "have" : "none");
	if (similarity != index->similarity)
		die("%s: its vectors are compared by %s, those of %s by %s; say --similarity %s",
		    rows_stream(adding->rows), similarity_name(similarity), index->name,
		    similarity_name(index->similarity),
		    similarity_name(index->similarity));
}

/* Adds the numbers of removed rows [count] to their file, and says so in index.json. */
static void
put_removed(const struct index_addition *adding, struct tree *about,
    const uint32_t *removed, int64_t count)
{
	struct tree *before = tree_get(about, "removed"), *now = tree_object();
	int64_t all = count + (before ? tree_integer(before, "rows", 0) : 0);
	char *path = index_addition_path(adding, INDEX_REMOVED), hash[HASH_ROOM];
	struct hashed_file *file =
	    hashed_file_open(path, (uint64_t)(all - count) * sizeof *removed);
	struct file_view view;

	hashed_file_write(file, removed, (size_t)count * sizeof *removed);
	hashed_file_end(file, hash);
	hash_bytes(hash, index_addition_view(adding, INDEX_REMOVED, &view),
	    (size_t)all * sizeof *removed);
	file_view_close(&view);
	tree_set(now, "rows", tree_of_integer(all));
	tree_set(now, "hash", tree_of_string(hash));
	tree_set(about, "removed", now);
	tree_set(about, "version", tree_of_integer(INDEX_CHANGED));
	if (all > adding->index->rows + adding->count - all)
		warn(
		    "%s: %lld of its %lld rows are removed and take room: make it again of 'mts from index'",
		    adding->folder, (long long)all,
		    (long long)(adding->index->rows + adding->count));
	free(path);
}

void
vector_index_change(const char *folder, const struct vector_index_options *options,
    enum index_change change, const char *ids)
{
	int64_t removed_count;

	if (!vector_index_is(folder))
		die("%s: there is no index; without --append, --replace, --sync and --remove one is made",
		    folder);
	char *real = realpath(folder, NULL); /* one lock for all of its names */
	struct lock *lock = lock_take(real ? real : folder);
	struct vector_index *index = vector_index_open(folder);
	struct index_addition adding = { .index = index, .folder = folder };
	struct tree *about = tree_copy(index->about);

	if (index->ids == ROW_PLACES && (change != INDEX_APPEND || ids))
		die("%s: its rows have no ids, by which rows are replaced or removed",
		    folder);
	adding.changes = index_changes_new(index, change);
	if (ids)
		index_changes_remove(adding.changes, ids);
	if (options->count) {
		adding.rows = open_rows(options);
		check_alike(&adding, options);
		index_addition_put(&adding, about);
	}
	if (change == INDEX_SYNC && !rows_read(adding.rows))
		die("%s: there is no row in it, and --sync would remove all rows of %s; to do so, remove the folder",
		    rows_stream(adding.rows), folder);
	uint32_t *removed = index_changes_end(adding.changes, &removed_count);
	if (removed_count)
		put_removed(&adding, about, removed, removed_count);
	if (adding.count || removed_count)
		write_about(&adding, about);
	else if (change == INDEX_APPEND && options->count)
		warn("%s: there is no new row in it; the index stays as it is",
		    rows_stream(adding.rows));
	inform("%s: %lld rows added, %lld removed", folder, (long long)adding.count,
	    (long long)removed_count);
	if (adding.rows)
		rows_close(adding.rows);
	index_changes_free(adding.changes);
	free(removed);
	tree_free(about);
	vector_index_close(index);
	lock_end(lock);
	free(real);
}
