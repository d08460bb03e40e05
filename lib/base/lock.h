/*
 * lock - lets one process at a time write a file or folder.
 *
 * The lock of NAME is flock(2) on the file NAME.lock beside it, which holds the machine, process and program.  The
 * kernel releases the lock when its process ends; a file left by a killed process is reused.  On a file system without
 * locks a warning is printed and there is no lock.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>

struct lock;

/* Locks a file or folder.  Dies if another process holds the lock, and names that process. */
struct lock *lock_take(const char *name);

/* As lock_take, but waits for the other process.  *waited: whether it had to. */
struct lock *lock_wait(const char *name, bool *waited);

/* Releases and frees the lock; NULL is ignored. */
void lock_end(struct lock *lock);

#endif
