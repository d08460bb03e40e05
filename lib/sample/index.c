#include "sample/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"

/* VERSION: increase it when lists are computed differently. */
enum { PAGE = 511, NAME = 80, VERSION = 1 };

static const int64_t magic = 0x6d6f746573696478; /* "motesidx" */

struct page {
	int64_t numbers[PAGE];
	uint64_t hash;
};

/* Layout of the last page. */
enum { MAGIC, STATE, COUNTS };

struct index {
	char *path; /* NULL: in memory */
	uint64_t state;
	int list;	    /* being written */
	struct output *out; /* while writing */
	int used;	    /* numbers in `page`, while writing */
	int descriptor;	    /* while reading */
	struct page *page;  /* of a file */
	int64_t at, pages;  /* number of the page in memory, -1: none; number of pages */
	struct numbers numbers;				  /* in memory */
	int64_t counts[INDEX_LISTS], starts[INDEX_LISTS]; /* first pages, or numbers */
};

char *
index_path(const char *folder, const char *name, uint64_t key)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	char safe[NAME + 1] = "";

	for (size_t i = 0; i < NAME && name[i]; i++)
		safe[i] = strchr(plain, name[i]) ? name[i] : '_';
	return mem_format("%s/%s.%016llx.index", folder, safe, (unsigned long long)key);
}

/* Hashes a word at a time: rng_hash, a byte at a time, would take most of the time of reading an example. */
static uint64_t
hash_page(const struct page *page, int64_t at)
{
	uint64_t hash = (uint64_t)at + 1; /* so that a hole's zeros do not hash to 0 */

	for (int i = 0; i < PAGE; i++) {
		hash = (hash ^ (uint64_t)page->numbers[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Making one. ---------------------------------------------------------------------- */

struct index *
index_create(const char *path, uint64_t state)
{
	struct index *index = mem_zero(1, sizeof *index);

	index->descriptor = -1;
	index->at = -1;
	index->state = state + VERSION;
	if (path) {
		index->path = mem_string(path);
		index->page = mem_new(1, sizeof *index->page);
		index->out = output_open(path, true);
	}
	return index;
}

static void
write_page(struct index *index)
{
	struct page *page = index->page;

	memset(page->numbers + index->used, 0,
	    (size_t)(PAGE - index->used) * sizeof *page->numbers);
	page->hash = hash_page(page, index->pages++);
	output_write(index->out, page, sizeof *page);
	index->used = 0;
}

void
index_add(struct index *index, int64_t number)
{
	index->counts[index->list]++;
	if (!index->path) {
		numbers_add(&index->numbers, number);
		return;
	}
	if (index->used == PAGE)
		write_page(index);
	index->page->numbers[index->used++] = number;
}

void
index_next(struct index *index)
{
	if (index->used)
		write_page(index);
	index->list++;
	index->starts[index->list] =
	    index->path ? index->pages : (int64_t)index->numbers.count;
}

void
index_finish(struct index *index)
{
	if (!index->path)
		return;
	if (index->used)
		write_page(index);
	int64_t *numbers = index->page->numbers;
	numbers[MAGIC] = magic;
	numbers[STATE] = (int64_t)index->state;
	memcpy(numbers + COUNTS, index->counts, sizeof index->counts);
	index->used = COUNTS + INDEX_LISTS;
	write_page(index);
	output_finish(index->out);
	index->descriptor = open(index->path, O_RDONLY | O_CLOEXEC);
	if (index->descriptor < 0)
		die("%s:", index->path);
}

/* Reading. ------------------------------------------------------------------------- */

void
index_die(const struct index *index)
{
	die("%s: cut or damaged; remove it, and it is made anew", index->path);
}

static void
read_page(struct index *index, int64_t at)
{
	const size_t size = sizeof *index->page;
	char *to = (char *)index->page;

	if (at == index->at)
		return;
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(index->descriptor, to + done, size - done,
		    at * (int64_t)size + (int64_t)done);
		if (got < 0 && errno != EINTR)
			die("%s:", index->path);
		if (!got)
			index_die(index);
		done += got > 0 ? (size_t)got : 0;
	}
	if (index->page->hash != hash_page(index->page, at))
		index_die(index);
	index->at = at;
}

/* Reads the last page: the lists' lengths, and the state. */
static void
read_lists(struct index *index)
{
	const int64_t *numbers = index->page->numbers;
	int64_t pages = 0;

	if (index->pages < 1)
		index_die(index);
	read_page(index, index->pages - 1);
	if (numbers[MAGIC] != magic)
		index_die(index);
	index->state = (uint64_t)numbers[STATE];
	for (int list = 0; list < INDEX_LISTS; list++) {
		int64_t count = numbers[COUNTS + list];
		if (count < 0)
			index_die(index);
		index->counts[list] = count;
		index->starts[list] = pages;
		pages += count / PAGE + (count % PAGE != 0);
	}
	if (pages != index->pages - 1)
		index_die(index);
}

struct index *
index_open(const char *path, uint64_t state)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (descriptor < 0 && errno == ENOENT)
		return NULL;
	if (descriptor < 0 || fstat(descriptor, &status))
		die("%s:", path);
	struct index *index = mem_zero(1, sizeof *index);
	index->path = mem_string(path);
	index->page = mem_new(1, sizeof *index->page);
	index->descriptor = descriptor;
	index->at = -1;
	index->pages = status.st_size / (int64_t)sizeof *index->page;
	if (status.st_size % (int64_t)sizeof *index->page)
		index_die(index);
	read_lists(index);
	if (index->state == state + VERSION)
		return index;
	warn("%s: its data have changed since; it is made anew", path);
	index_close(index);
	return NULL;
}

struct index *
index_find(const char *path, uint64_t state, struct lock **lock)
{
	struct index *index = index_open(path, state);
	bool waited;

	*lock = NULL;
	if (index)
		return index;
	*lock = lock_wait(path, &waited);
	if (waited)
		index = index_open(path, state);
	if (index) {
		lock_end(*lock);
		*lock = NULL;
	}
	return index;
}

int64_t
index_count(const struct index *index, int list)
{
	return index->counts[list];
}

int64_t
index_get(struct index *index, int list, int64_t at)
{
	if (!index->path)
		return index->numbers.data[index->starts[list] + at];
	if (at < 0 || at >= index->counts[list])
		index_die(index);
	read_page(index, index->starts[list] + at / PAGE);
	return index->page->numbers[at % PAGE];
}

void
index_close(struct index *index)
{
	if (!index)
		return;
	if (index->descriptor >= 0)
		close(index->descriptor);
	free(index->numbers.data);
	free(index->page);
	free(index->path);
	free(index);
}
