#include "search/index_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "search/hashed_file.h"
#include "stream/condition.h"
#include "stream/gather.h"

static char *
path_of(const char *folder, int64_t number)
{
	return mem_format("%s/kept.%lld.mts", folder, (long long)number);
}

/* Writing. --------------------------------------------------------------------------- */

struct index_columns {
	const struct tree *keeps;
	const char *folder;
	int64_t files; /* of earlier parts */
	struct tree *kept;

	/* of the current stream */
	int stream; /* -1: none yet */
	int columns;
	struct writer *writer;
	int64_t rows;
	struct row_ref *refs; /* of the current record */
	int64_t count;
	size_t room;
	struct gather *gathers; /* [columns] */
	struct array *arrays;	/* [columns] */
};

int64_t
index_columns_files(const struct tree *about)
{
	const struct tree *parts = tree_get(about, "parts");
	int64_t count = 0;

	for (size_t i = 0; parts && i < parts->count; i++) {
		const struct tree *kept = tree_get(parts->items[i], "kept");
		count += kept ? (int64_t)kept->count : 0;
	}
	return count;
}

struct index_columns *
index_columns_new(const struct tree *about, const char *folder)
{
	struct index_columns *columns = mem_zero(1, sizeof *columns);

	columns->keeps = tree_get(about, "keeps");
	columns->folder = folder;
	columns->files = index_columns_files(about);
	columns->kept = tree_list();
	columns->stream = -1;
	return columns;
}

static bool
is_kept(const struct index_columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->keeps->count; i++)
		if (!strcmp(columns->keeps->items[i]->string, name))
			return true;
	return false;
}

static void
begin_stream(struct index_columns *columns, const struct reader *reader)
{
	char *path =
	    path_of(columns->folder, columns->files + (int64_t)columns->kept->count + 1);

	for (size_t i = 0; i < columns->keeps->count; i++)
		if (stream_find(reader, columns->keeps->items[i]->string) < 0)
			stream_lacks(reader, columns->keeps->items[i]->string);
	columns->columns = stream_columns(reader);
	columns->writer = stream_create(path, reader);
	for (int c = 0; c < columns->columns; c++)
		if (!is_kept(columns, stream_column(reader, c)->name))
			stream_drop(columns->writer, stream_column(reader, c)->name);
	columns->gathers = mem_zero((size_t)columns->columns, sizeof *columns->gathers);
	columns->arrays = mem_zero((size_t)columns->columns, sizeof *columns->arrays);
	columns->rows = 0;
	free(path);
}

static void
end_stream(struct index_columns *columns)
{
	struct tree *file = tree_add(columns->kept, tree_object());
	char *path =
	    path_of(columns->folder, columns->files + (int64_t)columns->kept->count);
	struct file_view view;
	char hash[HASH_ROOM];

	stream_finish(columns->writer);
	if (!file_view(path, &view))
		die("%s:", path);
	hash_bytes(hash, view.text, view.length);
	tree_set(file, "rows", tree_of_integer(columns->rows));
	tree_set(file, "bytes", tree_of_integer((int64_t)view.length));
	tree_set(file, "hash", tree_of_string(hash));
	file_view_close(&view);
	for (int c = 0; c < columns->columns; c++)
		gather_free(&columns->gathers[c]);
	free(columns->gathers);
	free(columns->arrays);
	free(path);
}

static void
put_record(struct index_columns *columns, const struct reader *reader,
    const struct record *record)
{
	for (int c = 0; c < columns->columns; c++)
		if (is_kept(columns, stream_column(reader, c)->name))
			columns->arrays[c] = gather_rows(&columns->gathers[c],
			    stream_column(reader, c), c, columns->refs, columns->count);
	struct record chosen = { columns->count, record->attributes, columns->arrays };
	stream_put(columns->writer, stream_make(columns->writer, &chosen));
	columns->rows += columns->count;
	columns->count = 0;
}

void
index_columns_add(struct index_columns *columns, const struct rows *rows, bool wanted)
{
	const struct reader *reader = rows_vectors(rows)->reader;
	int64_t index;
	bool ends;
	const struct record *record = rows_record(rows, &index, &ends);

	if (!columns->keeps)
		return;
	if (rows_stream_number(rows) != columns->stream) {
		if (columns->stream >= 0)
			end_stream(columns);
		columns->stream = rows_stream_number(rows);
		begin_stream(columns, reader);
	}
	columns->refs = mem_grow(columns->refs, &columns->room,
	    (size_t)columns->count + 1, sizeof *columns->refs);
	if (wanted)
		columns->refs[columns->count++] =
		    (struct row_ref){ record->columns, index };
	if (ends && columns->count)
		put_record(columns, reader, record);
}

struct tree *
index_columns_end(struct index_columns *columns)
{
	struct tree *kept = columns->kept;

	if (columns->stream >= 0)
		end_stream(columns);
	free(columns->refs);
	free(columns);
	return kept;
}

/* Reading. --------------------------------------------------------------------------- */

/* Calls `each` for each file; dies if its size or checksum is another. */
static void
each_file(const struct vector_index *index,
    void (*each)(void *context, const char *path, int64_t rows), void *context)
{
	const struct tree *parts = tree_need(index->about, "parts");
	int64_t number = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct tree *kept = tree_get(parts->items[i], "kept");
		for (size_t j = 0; kept && j < kept->count; j++) {
			char *path = path_of(index->name, ++number), hash[HASH_ROOM];
			const struct tree *file = kept->items[j];
			struct file_view view;
			if (!file_view(path, &view))
				die("%s: no such file; the index is not whole: make it again",
				    path);
			hash_bytes(hash, view.text, view.length);
			file_view_close(&view);
			if (strcmp(hash, tree_string(file, "hash", "")) != 0)
				die("%s: it does not agree with its checksum: the index is damaged; make it again",
				    path);
			if (each)
				each(context, path, tree_integer(file, "rows", 0));
			free(path);
		}
	}
}

/* Rows that are being chosen. */
struct row_choice {
	const struct vector_index *index;
	bool *pass; /* [rows] */
	const char *const *texts;
	int count;
	int64_t rows;
	struct reader *reader; /* of the file before; NULL: none */
	struct conditions *conditions;
};

static void
choose_in(void *context, const char *path, int64_t rows)
{
	struct row_choice *choice = context;
	const struct vector_index *index = choice->index;
	struct reader *reader = stream_open(path);
	struct record record;

	if (choice->conditions)
		conditions_bind(choice->conditions, reader);
	else
		choice->conditions =
		    conditions_open(choice->texts, choice->count, reader);
	struct conditions *conditions = choice->conditions;
	if (choice->reader)
		stream_close(choice->reader);
	choice->reader = reader;

	while (stream_next(reader, &record)) {
		const bool *pass = conditions_pass(conditions, &record);
		if (record.rows > index->rows - choice->rows)
			die("%s: it has more rows than the index: the index is damaged; make it again",
			    path);
		for (int64_t i = 0; i < record.rows; i++)
			choice->pass[choice->rows++] = pass[i];
	}
	if (conditions_rows(conditions) != rows)
		die("%s: it has %lld rows, and its index says %lld: the index is damaged; make it again",
		    path, (long long)conditions_rows(conditions), (long long)rows);
}

void
index_columns_choose(struct vector_index *index, const char *const *conditions, int count)
{
	struct row_choice choice = {
		.index = index, .texts = conditions, .count = count
	};

	if (!tree_get(index->about, "keeps"))
		die("%s: it keeps no columns, which --where asks for: make it with 'mts index --columns NAME'",
		    index->name);
	choice.pass = mem_new((size_t)index->rows + 1, sizeof *choice.pass);
	each_file(index, choose_in, &choice);
	if (choice.conditions)
		conditions_end(choice.conditions);
	conditions_close(choice.conditions);
	if (choice.reader)
		stream_close(choice.reader);
	if (choice.rows != index->rows)
		die("%s: it keeps the columns of %lld rows, and has %lld: it is damaged; make it again",
		    index->name, (long long)choice.rows, (long long)index->rows);
	vector_index_let_pass(index, choice.pass);
}

char *
index_columns_path(const struct vector_index *index, int64_t number)
{
	return path_of(index->name, number);
}

void
index_columns_check(const struct vector_index *index)
{
	each_file(index, NULL, NULL);
}
