#include "sample/examples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/json.h"
#include "text/tsv.h"

enum { GROUP = 16, BUFFER = 1 << 20 };

/* Where a group of examples begins. */
struct mark {
	int64_t offset, line;
};

struct part {
	char *path;
	int file;
	bool tsv;
	int64_t first, count;	   /* examples before this file, and in it */
	int64_t size, lines, body; /* bytes, lines, and where a TSV's rows begin */
	struct mark *marks;	   /* one for each group, and one for the end */
	size_t mark_count, capacity;
	struct tree *header; /* TSV: a list of names */
};

struct examples {
	struct part *parts;
	int part_count;
	int64_t count, repaired;
	struct tree *record;
	char *group, *line; /* bytes of one group; a copy of a repaired line */
	size_t group_capacity, line_capacity, group_size;
	const struct part *part; /* of the group that was read last, and its number */
	int64_t group_index, line_number;
};

/* Notes the examples of a file as its bytes go by. */
struct scan {
	struct part *part;
	bool blank;	       /* nothing but blanks in this line so far */
	int64_t offset, start; /* of the next byte, of this line */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void
add_mark(struct part *part, int64_t offset, int64_t line)
{
	part->marks = mem_grow(
	    part->marks, &part->capacity, part->mark_count + 1, sizeof *part->marks);
	part->marks[part->mark_count++] = (struct mark){ offset, line };
}

static void
scan_bytes(struct scan *scan, const char *bytes, size_t count)
{
	struct part *part = scan->part;
	const char *at = bytes, *end = bytes + count;

	while (at < end) {
		while (scan->blank && !part->tsv && at < end && is_blank(*at))
			at++;
		if (at == end)
			break;
		if (scan->blank && (part->tsv ? part->lines > 0 : *at != '\n') &&
		    part->count++ % GROUP == 0)
			add_mark(part, scan->start, part->lines + 1);
		scan->blank = false;
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		at = newline + 1;
		scan->start = scan->offset + (at - bytes);
		scan->blank = true;
		if (part->lines++ == 0)
			part->body = scan->start;
	}
	scan->offset += (int64_t)count;
}

static void
scan_end(struct scan *scan)
{
	struct part *part = scan->part;

	part->size = scan->offset;
	if (part->tsv && !part->lines)
		part->body = part->size;
	add_mark(part, part->size, part->lines + 1);
}

static bool
is_compressed(const char *bytes, size_t count)
{
	return (count >= 2 && !memcmp(bytes, "\x1f\x8b", 2)) ||
	       (count >= 4 && (!memcmp(bytes, "\x28\xb5\x2f\xfd", 4) ||
				  (!memcmp(bytes + 1, "\x2a\x4d\x18", 3) &&
				      (bytes[0] & 0xf0) == 0x50)));
}

/* A file without a name: it vanishes with the program, however that ends. */
static int
temporary(const char *tmpdir)
{
	int file = open(tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		char *path = mem_format("%s/tasksample-XXXXXX", tmpdir);
		file = mkstemp(path);
		if (file >= 0)
			unlink(path);
		free(path);
	}
	if (file < 0)
		die("%s: cannot make a temporary file there (choose another folder with "
		    "--tmpdir):",
		    tmpdir);
	return file;
}

static void
write_all(int file, const char *bytes, size_t count, const char *tmpdir)
{
	while (count) {
		ssize_t put = write(file, bytes, count);
		if (put < 0 && errno != EINTR)
			die("%s: cannot unpack a data set there (choose another folder "
			    "with --tmpdir):",
			    tmpdir);
		if (put > 0) {
			bytes += put;
			count -= (size_t)put;
		}
	}
}

static void
unpack(struct scan *scan, const char *tmpdir, char *buffer)
{
	struct input *input = input_open(scan->part->path);
	size_t got;

	scan->part->file = temporary(tmpdir);
	while ((got = input_read(input, buffer, BUFFER))) {
		write_all(scan->part->file, buffer, got, tmpdir);
		scan_bytes(scan, buffer, got);
	}
	input_close(input);
}

static void
read_header(struct part *part)
{
	size_t length = (size_t)part->body;
	char *text = mem_new(length + 1, 1);

	if (pread(part->file, text, length, 0) != (ssize_t)length)
		die("%s: cannot read its header line:", part->path);
	length -= length && text[length - 1] == '\n';
	size_t from = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	part->header = tsv_names(text + from, length - from, part->path, 1);
	free(text);
}

static bool
ends_with(const char *name, size_t length, const char *ending)
{
	size_t n = strlen(ending);

	return length >= n && !memcmp(name + length - n, ending, n);
}

static bool
is_tsv(const char *path)
{
	size_t length = strlen(path);

	if (ends_with(path, length, ".gz"))
		length -= 3;
	else if (ends_with(path, length, ".zst"))
		length -= 4;
	return ends_with(path, length, ".tsv");
}

/* False when the file is compressed. */
static bool
scan_plain(struct scan *scan, char *buffer)
{
	struct part *part = scan->part;

	part->file = open(part->path, O_RDONLY | O_CLOEXEC);
	if (part->file < 0)
		die("%s:", part->path);
	ssize_t got = read(part->file, buffer, BUFFER);
	if (got > 0 && is_compressed(buffer, (size_t)got)) {
		close(part->file);
		return false;
	}
	if (got > 23 && !memcmp(buffer, "version https://git-lfs", 23))
		die("%s: a Git LFS pointer, not the file itself; fetch it with 'git lfs "
		    "pull'",
		    part->path);
	for (; got > 0; got = read(part->file, buffer, BUFFER))
		scan_bytes(scan, buffer, (size_t)got);
	if (got < 0)
		die("%s:", part->path);
	return true;
}

static void
open_part(struct part *part, const char *tmpdir, char *buffer)
{
	struct scan scan = { .part = part, .blank = true };
	struct stat status;

	part->tsv = is_tsv(part->path);
	if (stat(part->path, &status))
		die("%s:", part->path);
	if (S_ISDIR(status.st_mode))
		die("%s: a folder, not a file", part->path);
	if (!S_ISREG(status.st_mode) || !scan_plain(&scan, buffer))
		unpack(&scan, tmpdir, buffer);
	scan_end(&scan);
	if (!part->count)
		die("%s: has no examples", part->path);
	if (part->tsv)
		read_header(part);
}

struct examples *
examples_open(const char *const *files, int count, const char *folder, const char *tmpdir)
{
	struct examples *set = mem_zero(1, sizeof *set);
	char *buffer = mem_new(BUFFER, 1);

	set->parts = mem_zero((size_t)count, sizeof *set->parts);
	set->part_count = count;
	for (int i = 0; i < count; i++) {
		struct part *part = set->parts + i;
		part->path = folder && files[i][0] != '/'
				 ? mem_format("%s/%s", folder, files[i])
				 : mem_string(files[i]);
		open_part(part, tmpdir, buffer);
		part->first = set->count;
		set->count += part->count;
	}
	free(buffer);
	return set;
}

int64_t
examples_count(const struct examples *set)
{
	return set->count;
}

static void
read_group(struct examples *set, const struct part *part, int64_t group)
{
	const struct mark *mark = part->marks + group;
	size_t size = (size_t)(mark[1].offset - mark[0].offset);

	if (set->part == part && set->group_index == group)
		return;
	set->group = mem_grow(set->group, &set->group_capacity, size, 1);
	for (size_t have = 0; have < size;) {
		ssize_t got = pread(part->file, set->group + have, size - have,
		    mark->offset + (int64_t)have);
		if (got < 0 && errno != EINTR)
			die("%s:", part->path);
		if (got == 0)
			die("%s: became shorter while it was read", part->path);
		have += got > 0 ? (size_t)got : 0;
	}
	set->group_size = size;
	set->part = part;
	set->group_index = group;
}

/* Line `wanted` (from 0) of the group that was read, without its end. */
static const char *
find_line(struct examples *set, int64_t wanted, size_t *length)
{
	const char *at = set->group, *end = set->group + set->group_size;

	set->line_number = set->part->marks[set->group_index].line;
	for (;; set->line_number++) {
		if (at >= end)
			die("%s: changed while it was read", set->part->path);
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		const char *text = at;
		while (!set->part->tsv && text < stop && is_blank(*text))
			text++;
		if ((set->part->tsv || text < stop) && wanted-- == 0) {
			*length = (size_t)(stop - at);
			return at;
		}
		at = stop + 1;
	}
}

struct tree *
examples_get(struct examples *set, int64_t index)
{
	int low = 0, high = set->part_count - 1;
	size_t length;

	while (low < high) {
		int middle = (low + high + 1) / 2;
		if (set->parts[middle].first <= index)
			low = middle;
		else
			high = middle - 1;
	}
	const struct part *part = set->parts + low;
	index -= part->first;
	read_group(set, part, index / GROUP);
	const char *text = find_line(set, index % GROUP, &length);
	if (set->line_number == 1 && length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3; /* a byte order mark */
		length -= 3;
	}
	if (utf8_valid(text, length) < length) {
		set->line = mem_grow(set->line, &set->line_capacity,
		    mem_multiply(length, 3, part->path), 1);
		length = utf8_repair(set->line, text, length, &set->repaired);
		text = set->line;
	}
	tree_free(set->record);
	set->record = part->tsv
			  ? tsv_row(set->part->header, text, length, set->part->path,
				set->line_number)
			  : json_parse(text, length, part->path, (int)set->line_number);
	return set->record;
}

const char *
examples_file(const struct examples *set)
{
	return set->part ? set->part->path : set->parts->path;
}

int64_t
examples_line(const struct examples *set)
{
	return set->line_number;
}

int64_t
examples_repaired(const struct examples *set)
{
	return set->repaired;
}

void
examples_close(struct examples *set)
{
	for (int i = 0; i < set->part_count; i++) {
		close(set->parts[i].file);
		free(set->parts[i].path);
		free(set->parts[i].marks);
		tree_free(set->parts[i].header);
	}
	tree_free(set->record);
	free(set->parts);
	free(set->group);
	free(set->line);
	free(set);
}
