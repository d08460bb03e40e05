/*
 * lock - a lock on an output: one process at a time writes a file or folder.
 *
 * The lock of NAME is the file NAME.lock beside it, under flock(2), which says whose it is: the machine, the process,
 * the program.  The system ends a lock with its process, however that ends; the file that a killed process leaves
 * stops nobody, and the next process takes it over.  Where the file system has no locks, a warning says so, and there
 * is none.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>

struct lock;

/* Lock `name`, a file or folder to be written.  Dies, saying who holds it, where another process does. */
struct lock *lock_take(const char *name);

/* The same, but waits for the other process: for what both may use once it is made.  *waited: whether it did. */
struct lock *lock_wait(const char *name, bool *waited);

/* Frees it; NULL is none. */
void lock_end(struct lock *lock);

#endif
