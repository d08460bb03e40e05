/*
 * ranks - processes that train one model together, and their messages.
 *
 * The build links single.c, for one process, or mpi.c (make MPI=1).  All ranks call the same functions in the same order.
 * ranks_sum and ranks_share are asynchronous: a thread does them, in order, while the program computes; `values` must live until
 * ranks_wait, `starts` is copied.
 *
 * A sum is added in the order of the ranks, whatever the library and the network: the same number of ranks gives the same bits on
 * all of them.
 *
 * starts[count + 1] divides an array: rank r owns elements starts[r] to starts[r + 1] - 1.
 */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include <stddef.h>
#include <stdint.h>

/* Call it after nn_start.  All ranks but the first become quiet, and name themselves in error messages.  Dies if several processes
 * were started that cannot communicate. */
void ranks_start(void);
void ranks_finish(void);

int ranks_count(void);
int ranks_own(void); /* from 0 */

/* all[count], of `bytes` each, receives `own` of each rank.  Host memory. */
void ranks_gather(void *all, const void *own, size_t bytes);

/* Replaces values[count] by their sums over all ranks.  Host memory. */
void ranks_add(double *values, size_t count);

/* In nn memory.  sum replaces this rank's part by its sum over all ranks, and leaves the other parts (reduce-scatter); share
 * copies each rank's part to all ranks (all-gather).  size: bytes of an element. */
void ranks_sum(float *values, const size_t *starts);
void ranks_share(void *values, const size_t *starts, size_t size);

/* Waits until all sums and shares are done. */
void ranks_wait(void);

struct ranks_traffic {
	int64_t bytes, messages; /* sent by this rank */
	double busy, waited;	 /* seconds of communication; of the program's waiting */
};
struct ranks_traffic ranks_traffic(void);

/* From now on this process dies if other ranks do not answer for 15 seconds.  For signal handlers. */
void ranks_hurry(void);

/* Ends all other ranks at once, if there are several; the caller then dies. */
void ranks_abort(int status);

/* The number of processes that mpirun(1) or srun(1) says it started.  (launched.c) */
int ranks_launched(void);

#endif
