/*
 * index - lists of integers computed from files once (row offsets, rows that are examples), then read in any order.
 *
 * An index is in memory, or in a file that later runs reuse and read a page at a time, so that it takes no memory.  The file is
 * pages of 4096 bytes: 511 int64 in the machine's byte order, and a hash of these and of the page's number.  Each list begins on
 * a page; the last page has the lists' lengths, and a hash of the state of the source files.  It is written completely or not at
 * all.
 *
 * Dies, naming the file, when it reads a truncated or damaged page.
 */
#ifndef SAMPLE_INDEX_H
#define SAMPLE_INDEX_H

#include <stdint.h>

#include "base/lock.h"

enum { INDEX_LISTS = 8 };

struct index;

/* FOLDER/NAME.KEY.index, with '_' for special characters of the name; the caller frees it. */
char *index_path(const char *folder, const char *name, uint64_t key);

/* Numbers are added to the first list, after index_next to the next one; index_finish allows reading.  path NULL: in memory. */
struct index *index_create(const char *path, uint64_t state);
void index_add(struct index *index, int64_t number);
void index_next(struct index *index);
void index_finish(struct index *index);

/* Opens an index.  NULL if there is none, or, with a warning, if it is of another state. */
struct index *index_open(const char *path, uint64_t state);
/* The same, but if there is none, *lock gives this process alone the right to make it.  Waits for another process that is making
 * it, and opens the result.  *lock: NULL if an index was found. */
struct index *index_find(const char *path, uint64_t state, struct lock **lock);
int64_t index_count(const struct index *index, int list);
int64_t index_get(struct index *index, int list, int64_t at);

/* Dies of a corrupt index, naming it. */
_Noreturn void index_die(const struct index *index);
void index_close(struct index *index);

#endif
