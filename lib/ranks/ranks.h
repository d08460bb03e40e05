/*
 * ranks - processes that train one model together, and what they tell each other.
 *
 * alone.c, where there is one process, or mpi.c (make MPI=1) stands behind these names: the build chooses, as it
 * chooses the kernels, whose memory (nn.h) is what is summed and shared.  All ranks call the same functions in the
 * same order; what is posted is done in that order, by a thread beside what the program computes.
 *
 * A sum is added in the order of the ranks, whatever the library and the network: the same number of ranks gives the
 * same bits, on all of them.
 *
 * parts: starts[count + 1]; rank r's are the elements from starts[r] to starts[r + 1].  They need not live until the
 * end; the values must.
 */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include <stddef.h>
#include <stdint.h>

/* After nn_start.  All but the first rank then are quiet, and name themselves in what they die of.  Dies where several processes were started that
 * cannot talk. */
void ranks_start(void);
void ranks_finish(void);

int ranks_count(void);
int ranks_own(void); /* from 0 */

/* all[count] of `bytes` each: what each rank has for `own`.  Host memory. */
void ranks_gather(void *all, const void *own, size_t bytes);

/* values[count] become their sums over all ranks.  Host memory. */
void ranks_add(double *values, size_t count);

/* Post: of nn memory, this rank's part becomes its sum over all ranks, the others' stay; or all parts become what
 * their ranks have.  size: of an element. */
void ranks_sum(float *values, const size_t *starts);
void ranks_share(void *values, const size_t *starts, size_t size);

/* Until all that was posted is done. */
void ranks_wait(void);

/* What this rank has sent, how long it took, and how long the program waited for it. */
struct ranks_traffic {
	int64_t bytes, messages;
	double busy, waited; /* seconds */
};
struct ranks_traffic ranks_traffic(void);

/* Somebody waits for this process to end: from now on it takes ranks for dead that do not answer for 15 seconds, and
 * dies.  For a handler of signals. */
void ranks_hurry(void);

/* End all ranks, at once, where there are several; this one goes on to die. */
void ranks_abort(int status);

/* How many processes the program that started this one says it started: mpirun(1) or srun(1).  (launched.c) */
int ranks_launched(void);

#endif
