#include "text/datafile.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/csv.h"
#include "text/json.h"
#include "text/tsv.h"

enum { BLOCK = 1 << 18, CSV_MOST = 16 << 20 };

struct datafile {
	struct input *input;
	enum datafile_format format;
	char *block; /* bytes read and not yet used: [at, end) */
	size_t at, end, room;
	bool ended;
	char *repaired_line;
	size_t repaired_room;
	struct tree *names; /* of a TSV file's columns; NULL before its first line */
	struct tree *record;
	int64_t line, offset, next_offset, repaired;
	int64_t inside; /* line ends inside the record just read */
};

enum datafile_format
datafile_parse(const char *option, const char *name)
{
	static const char *const formats[] = { "jsonl", "tsv", "csv", "lines" };

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, formats[i]))
			return (enum datafile_format)(DATAFILE_JSONL + i);
	die_usage("%s: '%s' is none of jsonl, tsv, csv, lines", option, name);
}

static bool
has_suffix(const char *name, size_t length, const char *suffix)
{
	size_t size = strlen(suffix);

	return length > size && !memcmp(name + length - size, suffix, size);
}

static enum datafile_format
guess(struct input *input)
{
	const char *name = input_name(input);
	size_t length = strlen(name);

	if (has_suffix(name, length, ".gz"))
		length -= 3;
	else if (has_suffix(name, length, ".zst"))
		length -= 4;
	if (has_suffix(name, length, ".jsonl") || has_suffix(name, length, ".ndjson") ||
	    has_suffix(name, length, ".json"))
		return DATAFILE_JSONL;
	if (has_suffix(name, length, ".tsv"))
		return DATAFILE_TSV;
	if (has_suffix(name, length, ".csv"))
		return DATAFILE_CSV;
	if (has_suffix(name, length, ".txt"))
		return DATAFILE_LINES;
	return input_starts_with(input, "{") || input_starts_with(input, "\xEF\xBB\xBF{")
		   ? DATAFILE_JSONL
		   : DATAFILE_LINES;
}

struct datafile *
datafile_open_input(struct input *input, enum datafile_format format)
{
	struct datafile *file = mem_zero(1, sizeof *file);

	file->input = input;
	file->format = format == DATAFILE_GUESS ? guess(input) : format;
	file->room = BLOCK;
	file->block = mem_new(file->room, 1);
	return file;
}

struct datafile *
datafile_open(const char *path, enum datafile_format format)
{
	return datafile_open_input(input_open(path), format);
}

const char *
datafile_name(const struct datafile *file)
{
	return input_name(file->input);
}

/* Keep what is unused, and read behind it. */
static void
refill(struct datafile *file)
{
	size_t kept = file->end - file->at;

	memmove(file->block, file->block + file->at, kept);
	file->at = 0;
	file->end = kept;
	file->block = mem_grow(file->block, &file->room, kept + BLOCK / 2, 1);
	size_t got = input_read(file->input, file->block + kept, file->room - kept);
	file->ended = got < file->room - kept;
	file->end += got;
}

/* The end of the line or record at hand; NULL: the file ends first. */
static const char *
find_end(struct datafile *file)
{
	bool csv = file->format == DATAFILE_CSV;
	size_t searched = 0, quotes = 0;

	for (;;) {
		const char *text = file->block + file->at;
		size_t held = file->end - file->at;
		const char *stop = csv ? csv_end(text, searched, held, &quotes)
				       : memchr(text + searched, '\n', held - searched);
		if (stop || file->ended)
			return stop;
		if (csv && held > CSV_MOST)
			die("%s:%lld: the record is longer than %d MiB: a quote is "
			    "missing",
			    datafile_name(file),
			    (long long)(file->line + file->inside + 1), CSV_MOST >> 20);
		searched = held;
		refill(file);
	}
}

static int64_t
count_line_ends(const char *text, size_t length)
{
	int64_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	return count;
}

/* The next line, of CSV the next record, without its end; valid UTF-8; false at the end of the
 * file. */
static bool
next_line(struct datafile *file, const char **line, size_t *length)
{
	const char *stop = find_end(file);

	if (!stop && file->at == file->end)
		return false;
	*line = file->block + file->at;
	*length = stop ? (size_t)(stop - *line) : file->end - file->at;
	file->at += *length + (stop != NULL);
	file->offset = file->next_offset;
	file->next_offset += (int64_t)(*length + (stop != NULL));
	file->line += file->inside;
	file->inside = file->format == DATAFILE_CSV ? count_line_ends(*line, *length) : 0;
	if (file->line++ == 0 && *length >= 3 && !memcmp(*line, "\xEF\xBB\xBF", 3)) {
		*line += 3; /* a byte order mark */
		*length -= 3;
	}
	if (*length && (*line)[*length - 1] == '\r')
		--*length;
	if (utf8_valid(*line, *length) == *length)
		return true;
	file->repaired_line =
	    mem_grow(file->repaired_line, &file->repaired_room, 3 * *length, 1);
	*length = utf8_repair(file->repaired_line, *line, *length, &file->repaired);
	*line = file->repaired_line;
	return true;
}

static struct tree *
read_record(struct datafile *file, const char *line, size_t length)
{
	struct tree *record;

	switch (file->format) {
	case DATAFILE_JSONL:
		record = json_parse(line, length, datafile_name(file), (int)file->line);
		if (record->kind != TREE_OBJECT)
			die("%s:%lld: a JSON object is expected on each line",
			    datafile_name(file), (long long)file->line);
		break;
	case DATAFILE_TSV:
		record =
		    tsv_row(file->names, line, length, datafile_name(file), file->line);
		break;
	case DATAFILE_CSV:
		record = tsv_row_of(file->names,
		    csv_values(line, length, datafile_name(file), file->line),
		    datafile_name(file), file->line);
		break;
	default:
		record = tree_object();
		tree_set(record, "text", tree_of_bytes(line, length));
		break;
	}
	record->file = datafile_name(file);
	record->line = (int)file->line;
	return record;
}

static struct tree *
read_names(struct datafile *file, const char *line, size_t length)
{
	const char *name = datafile_name(file);

	return file->format == DATAFILE_TSV
		   ? tsv_names(line, length, name, file->line)
		   : tsv_names_of(
			 csv_values(line, length, name, file->line), name, file->line);
}

static bool
is_blank(const char *line, size_t length)
{
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	return length == 0;
}

struct tree *
datafile_next(struct datafile *file)
{
	const char *line;
	size_t length;

	tree_free(file->record);
	file->record = NULL;
	if (datafile_untyped(file) && !file->names && next_line(file, &line, &length))
		file->names = read_names(file, line, length);
	do {
		if (!next_line(file, &line, &length))
			return NULL;
	} while (file->format == DATAFILE_JSONL && is_blank(line, length));
	return file->record = read_record(file, line, length);
}

bool
datafile_untyped(const struct datafile *file)
{
	return file->format == DATAFILE_TSV || file->format == DATAFILE_CSV;
}

int64_t
datafile_line(const struct datafile *file)
{
	return file->line;
}

int64_t
datafile_offset(const struct datafile *file)
{
	return file->offset;
}

int64_t
datafile_repaired(const struct datafile *file)
{
	return file->repaired;
}

void
datafile_close(struct datafile *file)
{
	tree_free(file->record);
	tree_free(file->names);
	free(file->block);
	free(file->repaired_line);
	input_close(file->input);
	free(file);
}
