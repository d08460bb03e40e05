#include "sample/examples.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/spool.h"
#include "text/datafile.h"

enum { GROUP = 16, BUFFER = 1 << 20 };

/* Where a group of examples begins. */
struct mark {
	int64_t offset, line;
};

struct part {
	char *path;
	enum datafile_format format;
	bool unpacked;	    /* into the spool, from `from` on */
	struct stat status; /* of a file that is read where it is, when it was scanned */
	int64_t from, size; /* bytes */
	int64_t first, count; /* examples before this file, and in it */
	int64_t group;	      /* examples of a mark */
	struct mark *marks;   /* one for each group, and one for the end */
	size_t mark_count, capacity;
};

struct examples {
	struct part *parts;
	int part_count;
	int64_t count, repaired, max_line;
	struct spool spool;
	const struct part *part; /* the one that is open; NULL: none */
	struct datafile *file;
	int descriptor;	     /* of a file that is read where it is */
	int64_t group, next; /* of the part: what was sought, the example that comes */
};

static void
close_part(struct examples *set)
{
	if (!set->part)
		return;
	set->repaired += datafile_repaired(set->file);
	datafile_close(set->file);
	if (!set->part->unpacked)
		close(set->descriptor);
	set->part = NULL;
}

static void
open_part(struct examples *set, const struct part *part)
{
	struct stat now;

	close_part(set);
	if (part->unpacked) {
		set->descriptor = spool_descriptor(&set->spool);
	} else {
		set->descriptor = open(part->path, O_RDONLY | O_CLOEXEC);
		if (set->descriptor < 0 || fstat(set->descriptor, &now))
			die("%s:", part->path);
		if (now.st_ino != part->status.st_ino ||
		    now.st_size != part->status.st_size ||
		    now.st_mtim.tv_sec != part->status.st_mtim.tv_sec ||
		    now.st_mtim.tv_nsec != part->status.st_mtim.tv_nsec)
			die("%s: changed while it was read", part->path);
	}
	set->part = part;
	set->file = datafile_open_part(
	    set->descriptor, part->path, part->from, part->size, part->format);
	datafile_max_line(set->file, set->max_line);
	set->group = -1;
}

static void
add_mark(struct part *part, int64_t offset, int64_t line)
{
	part->marks = mem_grow(
	    part->marks, &part->capacity, part->mark_count + 1, sizeof *part->marks);
	part->marks[part->mark_count++] = (struct mark){ offset, line };
}

/* Where the bytes of a file are: in itself, or from here on in the spool. */
static void
place(struct examples *set, struct part *part, char *buffer)
{
	struct input *input = input_open(part->path);
	size_t got;

	part->unpacked = !input_is_plain(input);
	part->from = part->unpacked ? (int64_t)set->spool.bytes : 0;
	while (part->unpacked && (got = input_read(input, buffer, BUFFER)))
		spool_write(&set->spool, buffer, got);
	input_close(input);
	if (!part->unpacked && stat(part->path, &part->status))
		die("%s:", part->path);
	part->size = part->unpacked ? (int64_t)set->spool.bytes - part->from
				    : part->status.st_size;
}

static void
scan(struct examples *set, struct part *part)
{
	open_part(set, part);
	for (; datafile_skip(set->file); part->count++)
		if (part->count % part->group == 0)
			add_mark(
			    part, datafile_offset(set->file), datafile_line(set->file));
	close_part(set);
}

/* The examples of each row's lists, into the spool. */
static void
unroll(struct examples *set, struct part *part, const struct fields_each *each)
{
	struct datafile *file = datafile_open(part->path, part->format);
	const struct tree *row;
	int64_t empty = 0, first = 0;

	datafile_max_line(file, set->max_line);
	part->from = (int64_t)set->spool.bytes;
	while ((row = datafile_next_value(file))) {
		size_t members = fields_members(row, each);
		if (!members && !empty++)
			first = datafile_line(file);
		for (size_t i = 0; i < members; i++) {
			char *text = fields_member(row, each, i);
			add_mark(part, (int64_t)set->spool.bytes - part->from,
			    datafile_line(file));
			spool_write(&set->spool, text, strlen(text));
			spool_write(&set->spool, "\n", 1);
			free(text);
		}
		part->count += (int64_t)members;
	}
	if (empty)
		warn("%s: %lld rows have an empty list and make no example, line %lld "
		     "for one",
		    part->path, (long long)empty, (long long)first);
	part->size = (int64_t)set->spool.bytes - part->from;
	part->format = DATAFILE_JSONL;
	part->unpacked = true;
	set->repaired += datafile_repaired(file);
	datafile_close(file);
}

struct examples *
examples_open(const char *const *files, int count, const char *folder, const char *tmpdir,
    int64_t max_line, const struct fields_each *each)
{
	struct examples *set = mem_zero(1, sizeof *set);
	char *buffer = mem_new(BUFFER, 1);
	struct stat status;

	set->parts = mem_zero((size_t)count, sizeof *set->parts);
	set->part_count = count;
	set->max_line = max_line;
	set->spool.folder = tmpdir;
	for (int i = 0; i < count; i++) {
		struct part *part = set->parts + i;
		part->path = folder && files[i][0] != '/'
				 ? mem_format("%s/%s", folder, files[i])
				 : mem_string(files[i]);
		part->format = datafile_by_name(part->path);
		if (part->format != DATAFILE_TSV && part->format != DATAFILE_CSV)
			part->format = DATAFILE_JSONL;
		if (!stat(part->path, &status) && S_ISDIR(status.st_mode))
			die("%s: a folder, not a file", part->path);
		part->group = each ? 1 : GROUP;
		if (each) {
			unroll(set, part, each);
		} else {
			place(set, part, buffer);
			scan(set, part);
		}
		add_mark(part, part->size, 0);
		if (!part->count)
			die("%s: has no examples", part->path);
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

static const struct part *
find_part(const struct examples *set, int64_t index)
{
	int low = 0, high = set->part_count - 1;

	while (low < high) {
		int middle = (low + high + 1) / 2;
		if (set->parts[middle].first <= index)
			low = middle;
		else
			high = middle - 1;
	}
	return set->parts + low;
}

struct tree *
examples_get(struct examples *set, int64_t index)
{
	const struct part *part = find_part(set, index);

	index -= part->first;
	if (set->part != part)
		open_part(set, part);
	int64_t group = index / part->group;
	if (set->group != group || set->next > index) {
		const struct mark *mark = part->marks + group;
		datafile_seek(set->file, mark[0].offset, mark[1].offset, mark->line);
		set->group = group;
		set->next = group * part->group;
	}
	for (; set->next < index; set->next++)
		datafile_skip(set->file);
	set->next++;
	struct tree *record = datafile_next_value(set->file);
	if (!record)
		die("%s: changed while it was read", part->path);
	return record;
}

int64_t
examples_repaired(const struct examples *set)
{
	return set->repaired + (set->part ? datafile_repaired(set->file) : 0);
}

void
examples_close(struct examples *set)
{
	close_part(set);
	for (int i = 0; i < set->part_count; i++) {
		free(set->parts[i].path);
		free(set->parts[i].marks);
	}
	spool_free(&set->spool);
	free(set->parts);
	free(set);
}
