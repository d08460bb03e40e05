#include "mts/mts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "stream/cursor.h"
#include "stream/replay.h"

struct splitting {
	struct reader *reader;
	char *prefix;
	int parts, part, level; /* part: the current one, from 0 */
	int64_t rows, before;	/* rows of the stream; rows written */
	int64_t last;		/* row at which the part ends */
	struct writer *writer;
	char **beside;		  /* [parts]: temporary names until all are written */
	struct row_slice *slices; /* [columns] */
	struct array *arrays;	  /* [columns] */
};

static int64_t
count_rows(struct replay *replay)
{
	struct reader *reader = replay_reader(replay);
	struct progress *progress = stream_progress(reader);
	struct record record;
	int64_t rows = 0;

	while (stream_next(reader, &record))
		rows += record.rows;
	progress_free(progress);
	stream_close(reader);
	return rows;
}

static char *
prefix_of(const char *path, const char *prefix)
{
	size_t length = strlen(path);

	if (!prefix && !strcmp(path, "-"))
		die_usage(
		    "split: standard input has no name: -o PREFIX gives the parts one");
	if (prefix && (!*prefix || prefix[strlen(prefix) - 1] == '/'))
		die_usage("split: -o: '%s' does not end in a name", prefix);
	if (!prefix && length > 4 && !strcmp(path + length - 4, ".mts"))
		length -= 4;
	return prefix ? mem_string(prefix) : mem_format("%.*s", (int)length, path);
}

static char *
part_name(const struct splitting *splitting, int part)
{
	int digits = snprintf(NULL, 0, "%d", splitting->parts);

	return mem_format(
	    "%s.%0*d.mts", splitting->prefix, digits < 2 ? 2 : digits, part + 1);
}

/* A folder in the place of one part would be found when others have been renamed: then neither all nor none are there. */
static void
refuse_folders(const struct splitting *splitting)
{
	struct stat status;

	for (int i = 0; i < splitting->parts; i++) {
		char *name = part_name(splitting, i);
		if (!stat(name, &status) && S_ISDIR(status.st_mode))
			die("%s: it is a folder, in the place of a part; move it, or give -o another prefix",
			    name);
		free(name);
	}
}

static void
begin_part(struct splitting *splitting)
{
	int64_t parts = splitting->parts, next = splitting->part + 1;
	char *name = part_name(splitting, splitting->part);

	splitting->beside[splitting->part] = temporary_beside(name);
	splitting->writer =
	    stream_create_as(splitting->beside[splitting->part], name, splitting->reader);
	stream_level(splitting->writer, splitting->level);
	splitting->last =
	    splitting->rows / parts * next + splitting->rows % parts * next / parts;
	free(name);
}

static void
put_rows(
    struct splitting *splitting, const struct record *record, int64_t from, int64_t count)
{
	struct writer *writer = splitting->writer;

	if (count == record->rows) {
		stream_put(writer, stream_make(writer, record));
		return;
	}
	for (int c = 0; c < stream_columns(splitting->reader); c++)
		splitting->arrays[c] = row_slice_take(&splitting->slices[c],
		    stream_column(splitting->reader, c), &record->columns[c], from,
		    count);
	struct record some = { count, record->attributes, splitting->arrays };
	stream_put(writer, stream_make(writer, &some));
}

static void
next_part(struct splitting *splitting)
{
	stream_finish(splitting->writer);
	splitting->part++;
	begin_part(splitting);
}

static void
put_record(struct splitting *splitting, const struct record *record)
{
	int64_t from = 0;

	do {
		while (splitting->before == splitting->last &&
		       splitting->part + 1 < splitting->parts)
			next_part(splitting);
		int64_t left = splitting->last - splitting->before,
			count = record->rows - from;
		if (count > left && splitting->part + 1 < splitting->parts)
			count = left;
		put_rows(splitting, record, from, count);
		splitting->before += count;
		from += count;
	} while (from < record->rows);
}

/* From the last part to the first, because temporary_forget finds the latest file first. */
static void
put_in_place(const struct splitting *splitting)
{
	char *last = part_name(splitting, splitting->parts - 1);

	for (int i = splitting->parts - 1; i >= 0; i--) {
		char *name = part_name(splitting, i);
		if (rename(splitting->beside[i], name))
			die("%s:", name);
		temporary_forget(splitting->beside[i]);
		free(splitting->beside[i]);
		free(name);
	}
	free(splitting->beside);
	file_sync_parent(last);
	free(last);
}

void
split_stream(const char *path, int parts, const char *prefix, int level)
{
	struct splitting splitting = {
		.prefix = prefix_of(path, prefix), .parts = parts, .level = level
	};
	struct replay *replay = replay_open(path);
	splitting.rows = count_rows(replay);
	struct reader *reader = splitting.reader = replay_reader(replay);
	size_t columns = (size_t)stream_columns(reader);
	struct record record;

	splitting.beside = mem_zero((size_t)parts, sizeof *splitting.beside);
	splitting.slices = mem_zero(columns, sizeof *splitting.slices);
	splitting.arrays = mem_zero(columns, sizeof *splitting.arrays);
	struct progress *progress = stream_progress(reader);
	refuse_folders(&splitting);
	begin_part(&splitting);
	while (stream_next(reader, &record))
		put_record(&splitting, &record);
	while (splitting.part + 1 < parts)
		next_part(&splitting);
	stream_finish(splitting.writer);
	put_in_place(&splitting);
	progress_free(progress);
	for (size_t c = 0; c < columns; c++)
		row_slice_free(&splitting.slices[c]);
	free(splitting.slices);
	free(splitting.arrays);
	free(splitting.prefix);
	stream_close(reader);
	replay_close(replay);
}
