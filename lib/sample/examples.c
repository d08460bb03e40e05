#include "sample/examples.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/spool.h"
#include "sample/index.h"
#include "text/datafile.h"

enum { GROUP = 16, BUFFER = 1 << 20, LARGE = 1 << 28 };

/* Lists of an index: marks, each a byte offset and a line number of a group's first example; the number of examples. */
enum { LIST_MARKS, LIST_COUNT };

struct examples_file {
	char *path;
	enum datafile_format format;
	bool unpacked;	      /* into the spool, at `from` */
	struct stat status;   /* when it was scanned */
	int64_t from, size;   /* bytes */
	int64_t first, count; /* examples before this file, and in it */
	int64_t group;	      /* examples per mark */
	struct index *marks;  /* NULL: they are in the file `index` */
	char *index;
	uint64_t state;
};

struct examples {
	struct examples_file *parts;
	int part_count;
	int64_t count, repaired;
	struct examples_options options;
	struct spool spool;
	const struct examples_file *part; /* the one that is open; NULL: none */
	struct index *marks;
	struct datafile *file;
	int descriptor;	     /* of a file that is not unpacked */
	int64_t group, next; /* the group that was sought; the next example */
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
	if (!set->part->marks)
		index_close(set->marks);
	set->part = NULL;
}

static void
open_part(struct examples *set, const struct examples_file *part)
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
	set->marks = part->marks;
	if (!set->marks && !(set->marks = index_open(part->index, part->state)))
		die("%s: vanished while it was needed", part->index);
	set->part = part;
	set->file = datafile_open_part(
	    set->descriptor, part->path, part->from, part->size, part->format);
	datafile_max_line(set->file, set->options.max_line);
	set->group = -1;
}

static void
add_mark(struct examples_file *part, int64_t offset, int64_t line)
{
	index_add(part->marks, offset);
	index_add(part->marks, line);
}

/* Unpacks a compressed file or a pipe into the spool; sets the range of the file's bytes. */
static void
unpack(struct examples *set, struct examples_file *part, char *buffer)
{
	struct input *input = input_open(part->path);
	size_t got;

	part->unpacked = !input_is_plain(input);
	part->from = part->unpacked ? (int64_t)set->spool.bytes : 0;
	while (part->unpacked && (got = input_read(input, buffer, BUFFER)))
		spool_write(&set->spool, buffer, got);
	input_close(input);
	part->size = part->unpacked ? (int64_t)set->spool.bytes - part->from
				    : part->status.st_size;
}

/* Writes part->marks. */
static void
scan(struct examples *set, struct examples_file *part)
{
	struct progress *progress =
	    part->size > LARGE ? progress_new("rows looked at", 0) : NULL;

	open_part(set, part);
	for (; datafile_skip(set->file); part->count++) {
		if (part->count % part->group)
			continue;
		add_mark(part, datafile_offset(set->file), datafile_line(set->file));
		if (progress) {
			progress_span(progress, datafile_share(set->file), part->group);
			progress_add(progress, part->group);
		}
	}
	add_mark(part, part->size, 0);
	close_part(set);
	progress_free(progress);
	index_next(part->marks);
	index_add(part->marks, part->count);
	index_finish(part->marks);
}

static bool
identify(const struct examples_file *part, uint64_t *key, uint64_t *state)
{
	char *real = realpath(part->path, NULL);
	int64_t about[] = { part->status.st_size, part->status.st_mtim.tv_sec,
		part->status.st_mtim.tv_nsec };

	if (!real)
		die("%s:", part->path);
	*key = rng_hash(*key, real, strlen(real));
	*state = rng_hash(*state, about, sizeof about);
	free(real);
	return S_ISREG(part->status.st_mode);
}

/* As scan, but reuses a file of the folder for indices. */
static void
look_up(struct examples *set, struct examples_file *part)
{
	const char *slash = strrchr(part->path, '/');
	uint64_t key = 0;
	struct lock *lock;

	part->state = GROUP;
	identify(part, &key, &part->state);
	part->index = index_path(set->options.index, slash ? slash + 1 : part->path, key);
	part->marks = index_find(part->index, part->state, &lock);
	if (part->marks) {
		part->count = index_get(part->marks, LIST_COUNT, 0);
	} else {
		part->marks = index_create(part->index, part->state);
		scan(set, part);
		lock_end(lock);
	}
	index_close(part->marks);
	part->marks = NULL;
}

/* Writes the examples of each row's lists into the spool. */
static void
unroll(struct examples *set, struct examples_file *part, const struct fields_each *each)
{
	struct datafile *file = datafile_open(part->path, part->format);
	const struct tree *row;
	int64_t empty = 0, first = 0;

	datafile_max_line(file, set->options.max_line);
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
		warn(
		    "%s: %lld rows have an empty list and make no example, line %lld for one",
		    part->path, (long long)empty, (long long)first);
	part->size = (int64_t)set->spool.bytes - part->from;
	add_mark(part, part->size, 0);
	part->format = DATAFILE_JSONL;
	part->unpacked = true;
	set->repaired += datafile_repaired(file);
	datafile_close(file);
}

static void
find_marks(
    struct examples *set, struct examples_file *part, const struct fields_each *each)
{
	part->group = each ? 1 : GROUP;
	if (!each && set->options.index && !part->unpacked) {
		look_up(set, part);
		return;
	}
	part->marks = index_create(NULL, 0);
	if (each)
		unroll(set, part, each);
	else
		scan(set, part);
}

static void
name_part(const struct examples *set, struct examples_file *part, const char *file)
{
	const char *folder = set->options.folder;

	part->path = folder && file[0] != '/' ? mem_format("%s/%s", folder, file)
					      : mem_string(file);
	part->format = datafile_by_name(part->path);
	if (part->format != DATAFILE_TSV && part->format != DATAFILE_CSV)
		part->format = DATAFILE_JSONL;
	if (stat(part->path, &part->status))
		die("%s:", part->path);
	if (S_ISDIR(part->status.st_mode))
		die("%s: a folder, not a file", part->path);
}

struct examples *
examples_open(const char *const *files, int count, const struct examples_options *options,
    const struct fields_each *each)
{
	struct examples *set = mem_zero(1, sizeof *set);
	char *buffer = mem_new(BUFFER, 1);

	set->parts = mem_zero((size_t)count, sizeof *set->parts);
	set->part_count = count;
	set->options = *options;
	set->spool.folder = options->tmpdir;
	for (int i = 0; i < count; i++) {
		struct examples_file *part = set->parts + i;
		name_part(set, part, files[i]);
		if (!each)
			unpack(set, part, buffer);
		find_marks(set, part, each);
		if (!part->count)
			die("%s: has no examples", part->path);
		part->first = set->count;
		set->count += part->count;
	}
	free(buffer);
	return set;
}

bool
examples_identify(const struct examples *set, uint64_t *key, uint64_t *state)
{
	for (int i = 0; i < set->part_count; i++)
		if (!identify(set->parts + i, key, state))
			return false;
	return true;
}

int64_t
examples_count(const struct examples *set)
{
	return set->count;
}

static const struct examples_file *
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

/* Seeks the first example of a group. */
static void
seek_group(struct examples *set, int64_t group)
{
	int64_t start = index_get(set->marks, LIST_MARKS, 2 * group),
		line = index_get(set->marks, LIST_MARKS, 2 * group + 1),
		end = index_get(set->marks, LIST_MARKS, 2 * group + 2);

	if (start < 0 || start >= end || end > set->part->size)
		index_die(set->marks);
	datafile_seek(set->file, start, end, line);
	set->group = group;
	set->next = group * set->part->group;
}

struct tree *
examples_get(struct examples *set, int64_t index)
{
	const struct examples_file *part = find_part(set, index);

	index -= part->first;
	if (set->part != part)
		open_part(set, part);
	int64_t group = index / part->group;
	if (set->group != group || set->next > index)
		seek_group(set, group);
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
		free(set->parts[i].index);
		index_close(set->parts[i].marks);
	}
	spool_free(&set->spool);
	free(set->parts);
	free(set);
}
