/*
 * index - lists of whole numbers that follow from files and take long to find out: made once, then
 * read in any order.
 *
 * In memory, or in a file that outlives the program and is read a page at a time, so that a list takes no
 * memory however long it is.  The file is pages of 4096 bytes: 511 numbers of 64 bits, in this machine's
 * order of bytes, and a hash of these and of the page's number.  Each list begins on a page; the last
 * page tells how long they are, and the state of what they follow from.  It is written whole or not at
 * all.
 *
 * Dies, naming the file, on one that is cut or damaged, as soon as it reads there.
 */
#ifndef SAMPLE_INDEX_H
#define SAMPLE_INDEX_H

#include <stdint.h>

#include "base/lock.h"

enum { INDEX_LISTS = 8 };

struct index;

/* FOLDER/NAME.KEY.index, to be freed; of the name what is plain in one. */
char *index_path(const char *folder, const char *name, uint64_t key);

/* Numbers are added to the first list, then to the next ones; they are read when it is finished.
 * path NULL: in memory. */
struct index *index_create(const char *path, uint64_t state);
void index_add(struct index *index, int64_t number);
void index_next(struct index *index);
void index_finish(struct index *index);

/* NULL: there is none, or, of which it warns, one of another state. */
struct index *index_open(const char *path, uint64_t state);
/* The same; where there is none, it is for this process alone to make until the lock ends.  Waits for a process that
 * is making it, and opens what that made.  *lock: NULL where one was found. */
struct index *index_find(const char *path, uint64_t state, struct lock **lock);
int64_t index_count(const struct index *index, int list);
int64_t index_get(struct index *index, int list, int64_t at);

/* Of numbers that cannot be. */
_Noreturn void index_die(const struct index *index);
void index_close(struct index *index);

#endif
