#include "text/datafile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/csv.h"
#include "text/cut.h"
#include "text/json.h"
#include "text/json_string.h"
#include "text/no_text.h"
#include "text/tsv.h"

enum { BLOCK = 1 << 18 };

/* The state of a JSON array.  After datafile_seek the text may end after any element. */
enum array { ARRAY_ELEMENT, ARRAY_COMMA, ARRAY_CLOSED, ARRAY_SOUGHT };

struct datafile {
	struct input *input; /* NULL: a range of an open file: */
	int descriptor;
	const char *name;
	int64_t from, size, place, stop; /* range; next byte to read; end of reading */
	int64_t sought;			 /* offset given to datafile_seek */
	enum datafile_format format;
	int64_t max_line;
	bool adjustable; /* the program has an option for it */
	char *block;	 /* unconsumed bytes: [at, end) */
	size_t at, end, room;
	struct cut cut; /* state of the search from `at` on */
	bool settled;	/* the line end is known */
	bool ended;
	char *repaired_line;
	size_t repaired_room;
	struct tree *names; /* column names of a table; NULL before its header */
	bool quoted;	    /* all names are quoted (tsv_names) */
	enum array array;
	struct tree *record;
	int64_t line, offset, next_offset, repaired;
	int64_t inside; /* line ends inside the last record */
};

struct datafile *
datafile_open_input(struct input *input, enum datafile_format format)
{
	struct datafile *file = mem_zero(1, sizeof *file);

	file->input = input;
	file->name = input_name(input);
	file->format = format == DATAFILE_GUESS ? datafile_guess(input) : format;
	file->max_line = DATAFILE_LINE;
	return file;
}

struct datafile *
datafile_open(const char *path, enum datafile_format format)
{
	return datafile_open_input(input_open(path), format);
}

struct datafile *
datafile_open_part(int descriptor, const char *name, int64_t from, int64_t size,
    enum datafile_format format)
{
	struct datafile *file = mem_zero(1, sizeof *file);

	*file = (struct datafile){ .descriptor = descriptor,
		.name = name,
		.from = from,
		.size = size,
		.stop = size,
		.format = format,
		.max_line = DATAFILE_LINE };
	return file;
}

void
datafile_max_line(struct datafile *file, int64_t bytes)
{
	file->max_line = bytes;
	file->adjustable = true;
}

const char *
datafile_name(const struct datafile *file)
{
	return file->name;
}

void
datafile_rename(struct datafile *file, const char *name)
{
	file->name = name;
}

void
datafile_die(const struct datafile *file, const char *what)
{
	die("%s:%lld: %s", file->name, (long long)file->line, what);
}

static void
refuse_no_text(const struct datafile *file)
{
	char *why = no_text(file->block, file->end, file->name);

	if (why)
		die("%s: %s", file->name, why);
}

static size_t
read_part(struct datafile *file, char *to, size_t count)
{
	size_t left = (size_t)(file->stop - file->place), done = 0;

	for (count = count < left ? count : left; done < count;) {
		ssize_t got = pread(
		    file->descriptor, to + done, count - done, file->from + file->place);
		if (got < 0 && errno != EINTR)
			die("%s:", file->name);
		if (!got)
			die("%s: became shorter while it was read", file->name);
		done += got > 0 ? (size_t)got : 0;
		file->place += got > 0 ? got : 0;
	}
	return done;
}

/* Moves the unconsumed bytes to the start of the block and reads more. */
static void
refill(struct datafile *file)
{
	size_t kept = file->end - file->at, more = BLOCK / 2;

	if (kept)
		memmove(file->block, file->block + file->at, kept);
	file->at = 0;
	file->end = kept;
	if (file->input) {
		more = file->room ? more : BLOCK;
		file->block = mem_grow(file->block, &file->room, kept + more, 1);
		size_t got =
		    input_read_some(file->input, file->block + kept, file->room - kept);
		file->ended = !got;
		file->end += got;
	} else {
		int64_t left = file->stop - file->place;
		more = left < BLOCK ? (size_t)left : BLOCK;
		file->block = mem_grow(file->block, &file->room, kept + more + 1, 1);
		file->end += read_part(file, file->block + kept, file->room - kept);
		file->ended = file->place == file->stop;
	}
	if (!file->next_offset && (!kept || file->end < BLOCK))
		refuse_no_text(file);
}

static int64_t
count_line_ends(const char *text, size_t length)
{
	int64_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	return count;
}

/* Whether the format is TSV or CSV. */
static bool
is_table(const struct datafile *file)
{
	return file->format == DATAFILE_TSV || file->format == DATAFILE_CSV;
}

/* Determines the line end from the start of the file. */
static void
settle(struct datafile *file)
{
	bool csv = file->format == DATAFILE_CSV;
	char end;
	int array;

	if (file->settled)
		return;
	if (!file->block)
		refill(file);
	for (;;) {
		size_t held = file->end - file->at;
		const char *text = file->block + file->at;
		bool whole = file->ended || held > (size_t)file->max_line;
		array =
		    file->format == DATAFILE_JSONL ? cut_is_array(text, held, whole) : 0;
		end = cut_line_end(is_table(file), csv, text, held, whole);
		if (array > 0 || (!array && end))
			break;
		refill(file);
	}
	file->settled = true;
	file->cut = (struct cut){ csv ? CUT_CSV : CUT_LINES, .end = end };
	if (array <= 0)
		return;
	size_t before =
	    (size_t)((char *)memchr(file->block, '[', file->end) + 1 - file->block);
	file->cut = (struct cut){ .kind = CUT_ELEMENTS };
	file->line = 1 + count_line_ends(file->block, before);
	file->at = before;
	file->next_offset = (int64_t)before;
}

char
datafile_line_end(struct datafile *file)
{
	settle(file);
	return file->cut.kind == CUT_ELEMENTS ? 0 : file->cut.end;
}

/* The end of the next record; NULL: the block does not contain it. */
static const char *
end_at_hand(struct datafile *file)
{
	const char *text = file->block + file->at;
	const char *stop = cut_end(&file->cut, text, file->end - file->at);
	bool line = file->cut.kind == CUT_LINES;

	if (file->cut.searched > (size_t)file->max_line)
		die("%s:%lld: the %s is longer than %lld bytes; %s%s", file->name,
		    (long long)(file->line + file->inside + 1), line ? "line" : "record",
		    (long long)file->max_line,
		    line ? "is it text?" : "is a quote missing?",
		    file->adjustable ? " (--max-line allows more)" : "");
	return stop;
}

/* Whether the character separates elements of an array; updates the state. */
static bool
passes(struct datafile *file, char c)
{
	if (json_is_blank(c)) {
		file->line += c == '\n';
	} else if (c == ',' && file->array == ARRAY_COMMA) {
		file->array = ARRAY_ELEMENT;
	} else if (c == ']' && file->array != ARRAY_CLOSED &&
		   (file->array != ARRAY_ELEMENT || !file->offset)) {
		file->array = ARRAY_CLOSED;
	} else if (c != ',' || file->array != ARRAY_SOUGHT) {
		return false;
	}
	return true;
}

/* Moves to the next element of an array; false after the last. */
static bool
find_element(struct datafile *file)
{
	file->line += file->inside;
	file->inside = 0;
	for (;; file->at++, file->next_offset++) {
		while (file->at == file->end && !file->ended)
			refill(file);
		if (file->at == file->end) {
			if (file->array < ARRAY_CLOSED)
				datafile_die(file,
				    "the array of JSON is not closed; the file is cut short");
			return false;
		}
		if (!passes(file, file->block[file->at]))
			break;
	}
	if (file->array == ARRAY_COMMA)
		datafile_die(file, "not valid JSON: a comma is expected");
	if (file->array == ARRAY_CLOSED)
		datafile_die(file, "not valid JSON: something follows the array");
	file->array = file->array == ARRAY_ELEMENT ? ARRAY_COMMA : file->array;
	return true;
}

/* The next record without its line end; false at the end of the file. */
static bool
cut_record(struct datafile *file, const char **line, size_t *length)
{
	bool element;
	const char *stop;

	settle(file);
	element = file->cut.kind == CUT_ELEMENTS;
	if (element && !find_element(file))
		return false;
	while (!(stop = end_at_hand(file)) && !file->ended)
		refill(file);
	if (!stop && file->at == file->end)
		return false;
	if (element && stop == file->block + file->at)
		datafile_die(file, "not valid JSON: a value is expected");
	*line = file->block + file->at;
	*length = stop ? (size_t)(stop - *line) : file->end - file->at;
	size_t taken = *length + (stop && !element);
	file->at += taken;
	cut_next(&file->cut);
	file->offset = file->next_offset;
	file->next_offset += (int64_t)taken;
	file->line += file->inside + !element;
	file->inside = file->cut.kind == CUT_LINES ? 0 : count_line_ends(*line, *length);
	if (file->offset == 0 && *length >= 3 && !memcmp(*line, "\xEF\xBB\xBF", 3)) {
		*line += 3; /* skip a byte order mark */
		*length -= 3;
		if (taken == 3) /* without a line end: the file has no line */
			return false;
	}
	if (*length && (*line)[*length - 1] == '\r')
		--*length;
	return true;
}

/* The line, with invalid UTF-8 replaced. */
static void
repair(struct datafile *file, const char **line, size_t *length)
{
	if (*length && memchr(*line, 0, *length))
		datafile_die(file, "a byte 0: this is not text (or it is UTF-16)");
	if (utf8_valid(*line, *length) == *length)
		return;
	file->repaired_line =
	    mem_grow(file->repaired_line, &file->repaired_room, 3 * *length, 1);
	*length = utf8_repair(file->repaired_line, *line, *length, &file->repaired);
	*line = file->repaired_line;
}

static struct tree *
read_record(struct datafile *file, const char *line, size_t length)
{
	struct tree *record;

	switch (file->format) {
	case DATAFILE_JSONL:
		record = json_parse_python(line, length, file->name, (int)file->line);
		break;
	case DATAFILE_TSV:
		record = tsv_row(
		    file->names, file->quoted, line, length, file->name, file->line);
		break;
	case DATAFILE_CSV:
		record = tsv_row_of(file->names,
		    csv_values(line, length, file->name, file->line), file->name,
		    file->line);
		break;
	default:
		record = tree_object();
		tree_set(record, "text", tree_of_bytes(line, length));
		break;
	}
	record->file = file->name;
	record->line = (int)file->line;
	return record;
}

static bool
is_blank(const char *line, size_t length)
{
	return json_skip_blanks(line, 0, length) == length;
}

/* The first line that is not empty. */
static void
read_names(struct datafile *file)
{
	const char *line, *name = file->name;
	size_t length = 0;

	if (!is_table(file) || file->names)
		return;
	do
		if (!cut_record(file, &line, &length))
			return;
	while (!length);
	repair(file, &line, &length);
	file->names = file->format == DATAFILE_TSV
			  ? tsv_names(line, length, name, file->line, &file->quoted)
			  : tsv_names_of(csv_values(line, length, name, file->line), name,
				file->line);
}

/* The line of the next record; skips blank lines if there are several columns. */
static bool
next_line(struct datafile *file, const char **line, size_t *length)
{
	read_names(file);
	while (cut_record(file, line, length)) {
		if (file->format == DATAFILE_JSONL && is_blank(*line, *length))
			continue;
		if (is_table(file) && file->names->count > 1 && !*length)
			continue;
		return true;
	}
	return false;
}

bool
datafile_waits(struct datafile *file, double until)
{
	const char *line, *stop;
	size_t length;

	settle(file);
	while (file->input && file->cut.kind != CUT_ELEMENTS) {
		stop = end_at_hand(file);
		line = file->block + file->at;
		bool blank = stop && file->format == DATAFILE_JSONL &&
			     is_blank(line, (size_t)(stop - line));
		if (file->ended || (stop && !blank))
			break;
		double left = until - clock_now();
		if (blank)
			cut_record(file, &line, &length);
		else if (input_waits(file->input, left > 0 ? left : 0))
			return true;
		else
			refill(file);
	}
	return false;
}

struct tree *
datafile_next_value(struct datafile *file)
{
	const char *line;
	size_t length;

	tree_free(file->record);
	file->record = NULL;
	if (!next_line(file, &line, &length))
		return NULL;
	repair(file, &line, &length);
	return file->record = read_record(file, line, length);
}

struct tree *
datafile_next(struct datafile *file)
{
	struct tree *record = datafile_next_value(file);

	if (record && record->kind != TREE_OBJECT)
		datafile_die(file, "a JSON object is expected on each line");
	return record;
}

bool
datafile_skip(struct datafile *file)
{
	const char *line;
	size_t length;

	return next_line(file, &line, &length);
}

void
datafile_seek(struct datafile *file, int64_t offset, int64_t end, int64_t line)
{
	settle(file);
	read_names(file);
	cut_next(&file->cut);
	file->at = file->end = 0;
	file->place = file->next_offset = file->sought = offset;
	file->stop = end;
	file->ended = false;
	file->array = ARRAY_SOUGHT;
	file->line = line - (file->cut.kind != CUT_ELEMENTS);
	file->inside = 0;
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

double
datafile_share(const struct datafile *file)
{
	if (file->input)
		return input_share(file->input, file->end - file->at);
	return file->stop > file->sought ? (double)(file->next_offset - file->sought) /
					       (double)(file->stop - file->sought)
					 : 1;
}

int64_t
datafile_repaired(const struct datafile *file)
{
	return file->repaired;
}

void
datafile_warn_repaired(const struct datafile *file)
{
	if (file->repaired)
		warn("%s: %lld invalid parts of UTF-8 were replaced by U+FFFD",
		    file->name, (long long)file->repaired);
}

void
datafile_close(struct datafile *file)
{
	tree_free(file->record);
	tree_free(file->names);
	free(file->block);
	free(file->repaired_line);
	if (file->input)
		input_close(file->input);
	free(file);
}
