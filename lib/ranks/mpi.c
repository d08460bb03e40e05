/*
 * One thread makes all calls of MPI and takes jobs from a queue, so MPI_THREAD_FUNNELED suffices and communication overlaps with
 * computing.  It polls and sleeps, because an MPI library that spins takes the core from the ranks that compute.
 */
#include "ranks/ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

enum {
	EAGER_TRIES = 200,
	PAUSE = 20000, /* nanoseconds */
	PATIENCE = 15, /* seconds */
	LAST_SECONDS = 5
};

enum kind { START, GATHER, SUM, SHARE, FINISH };

struct operation {
	enum kind kind;
	void *values;
	const void *own;
	size_t size;
	size_t *starts; /* owned */
	struct operation *next;
};

/* The thread and its queue. */
static struct {
	int count, rank;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t posted, done;
	struct operation *first, **last;
	bool working;
	atomic_int abort; /* 0, or 1 + the status */
	atomic_bool hurry;
	float *parts; /* received from other ranks, to be summed */
	size_t parts_room;
	int *numbers; /* [4 count]: counts and offsets sent and received */
	struct ranks_traffic traffic;
} the = { .count = 1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.posted = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
	.last = &the.first };

static void
leave_if_aborted(void)
{
	int status = atomic_load(&the.abort);

	if (status)
		MPI_Abort(MPI_COMM_WORLD, status - 1);
}

static void abort_all(void *nothing);

static void
leave_if_hurried(double *since)
{
	if (!atomic_load(&the.hurry))
		return;
	if (*since == 0)
		*since = clock_now();
	if (clock_now() - *since < PATIENCE)
		return;
	before_death(abort_all, NULL);
	die("was asked to stop, but other ranks do not answer: they may have died; the last checkpoint is as it was");
}

/* Polls without sleeping at first, since an answer comes soon or much later. */
static void
complete(MPI_Request *request)
{
	struct timespec pause = { 0, PAUSE };
	double since = 0;
	int done = 0;

	for (int tries = 0;; tries++) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		leave_if_aborted();
		leave_if_hurried(&since);
		if (tries < EAGER_TRIES)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
}

static void
count_sent(size_t bytes)
{
	the.traffic.bytes += (int64_t)bytes * (the.count - 1);
	the.traffic.messages += the.count - 1;
}

static void
gather(const struct operation *operation)
{
	MPI_Request request;

	MPI_Iallgather(operation->own, (int)operation->size, MPI_BYTE, operation->values,
	    (int)operation->size, MPI_BYTE, MPI_COMM_WORLD, &request);
	complete(&request);
	count_sent(operation->size);
}

/* to[length] = the sum of all ranks' parts in the order of the ranks; the.parts has the other ranks'. */
static void
add_parts(float *to, size_t length)
{
	enum { STRIP = 1024 };
	float sum[STRIP];

	for (size_t at = 0; at < length; at += STRIP) {
		size_t n = length - at < STRIP ? length - at : STRIP;
		memset(sum, 0, sizeof sum);
		for (int r = 0; r < the.count; r++) {
			const float *part =
			    r == the.rank
				? to + at
				: the.parts + (size_t)(r - (r > the.rank)) * length + at;
			for (size_t i = 0; i < n; i++)
				sum[i] += part[i];
		}
		memcpy(to + at, sum, n * sizeof *sum);
	}
}

static void
sum(const struct operation *operation)
{
	int N = the.count, *send = the.numbers, *from = send + N, *receive = from + N,
	    *to = receive + N;
	size_t length = operation->starts[the.rank + 1] - operation->starts[the.rank];
	MPI_Request request;

	the.parts = mem_grow(
	    the.parts, &the.parts_room, (size_t)(N - 1) * length, sizeof *the.parts);
	for (int r = 0, at = 0; r < N; r++) {
		bool other = r != the.rank;
		from[r] = (int)(operation->starts[r] - operation->starts[0]);
		send[r] =
		    other ? (int)(operation->starts[r + 1] - operation->starts[r]) : 0;
		receive[r] = other ? (int)length : 0;
		to[r] = at;
		at += receive[r];
		the.traffic.bytes += (int64_t)send[r] * (int64_t)sizeof(float);
		the.traffic.messages += send[r] > 0;
	}
	float *values = (float *)operation->values + operation->starts[0];
	MPI_Ialltoallv(values, send, from, MPI_FLOAT, the.parts, receive, to, MPI_FLOAT,
	    MPI_COMM_WORLD, &request);
	complete(&request);
	add_parts((float *)operation->values + operation->starts[the.rank], length);
}

static void
share(const struct operation *operation)
{
	int *counts = the.numbers, *to = counts + the.count;
	MPI_Datatype element;
	MPI_Request request;

	MPI_Type_contiguous((int)operation->size, MPI_BYTE, &element);
	MPI_Type_commit(&element);
	for (int r = 0; r < the.count; r++) {
		to[r] = (int)(operation->starts[r] - operation->starts[0]);
		counts[r] = (int)(operation->starts[r + 1] - operation->starts[r]);
	}
	MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
	    (char *)operation->values + operation->starts[0] * operation->size, counts,
	    to, element, MPI_COMM_WORLD, &request);
	complete(&request);
	MPI_Type_free(&element);
	count_sent((size_t)counts[the.rank] * operation->size);
}

static void
start(void)
{
	int granted;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &granted) ||
	    granted < MPI_THREAD_FUNNELED)
		die("MPI does not start, or not beside threads");
	MPI_Comm_size(MPI_COMM_WORLD, &the.count);
	MPI_Comm_rank(MPI_COMM_WORLD, &the.rank);
	the.numbers = mem_new(4 * (size_t)the.count, sizeof *the.numbers);
}

static void
do_operation(const struct operation *operation)
{
	double began = clock_now();

	switch (operation->kind) {
	case START: start(); break;
	case GATHER: gather(operation); break;
	case SUM: sum(operation); break;
	case SHARE: share(operation); break;
	case FINISH: MPI_Finalize(); break;
	}
	if (operation->kind != START)
		the.traffic.busy += clock_now() - began;
}

static void *
work(void *nothing)
{
	bool go_on = true;

	prctl(PR_SET_TIMERSLACK, 1);
	pthread_mutex_lock(&the.lock);
	while (go_on) {
		while (!the.first) {
			the.working = false;
			pthread_cond_broadcast(&the.done);
			pthread_cond_wait(&the.posted, &the.lock);
		}
		struct operation *operation = the.first;
		the.first = operation->next;
		if (!the.first)
			the.last = &the.first;
		pthread_mutex_unlock(&the.lock);
		leave_if_aborted();
		do_operation(operation);
		go_on = operation->kind != FINISH;
		free(operation->starts);
		free(operation);
		pthread_mutex_lock(&the.lock);
	}
	the.working = false;
	pthread_cond_broadcast(&the.done);
	pthread_mutex_unlock(&the.lock);
	return nothing;
}

static void
post(struct operation wanted)
{
	struct operation *operation = mem_new(1, sizeof *operation);

	*operation = wanted;
	if (wanted.starts) {
		size_t bytes = ((size_t)the.count + 1) * sizeof *operation->starts;
		operation->starts = memcpy(mem_new(1, bytes), wanted.starts, bytes);
	}
	pthread_mutex_lock(&the.lock);
	*the.last = operation;
	the.last = &operation->next;
	the.working = true;
	pthread_cond_signal(&the.posted);
	pthread_mutex_unlock(&the.lock);
}

void
ranks_wait(void)
{
	double began = clock_now();

	pthread_mutex_lock(&the.lock);
	while (the.working)
		pthread_cond_wait(&the.done, &the.lock);
	the.traffic.waited += clock_now() - began;
	pthread_mutex_unlock(&the.lock);
}

/* For before_death; the trainer installs its own, which calls ranks_abort too. */
static void
abort_all(void *nothing)
{
	(void)nothing;
	ranks_abort(exit_failed);
}

void
ranks_start(void)
{
	sigset_t all, old;

	if (ranks_launched() == 1)
		return;
	/* signals go to the computing thread */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (pthread_create(&the.thread, NULL, work, NULL))
		die("no thread can be started to speak with other ranks");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	post((struct operation){ .kind = START });
	ranks_wait();
	the.traffic.waited = 0;
	if (the.count != ranks_launched())
		die("was started as one of %d processes, but MPI knows %d; start it by the mpirun of its own library, or by srun --mpi=pmix",
		    ranks_launched(), the.count);
	if (the.rank > 0) {
		program_name = mem_format("%s: rank %d", program_name, the.rank);
		verbosity = -1;
	}
	before_death(abort_all, NULL);
}

void
ranks_finish(void)
{
	if (the.count == 1)
		return;
	before_death(NULL, NULL);
	post((struct operation){ .kind = FINISH });
	pthread_join(the.thread, NULL);
	free(the.parts);
	free(the.numbers);
	the.count = 1;
}

int
ranks_count(void)
{
	return the.count;
}

int
ranks_own(void)
{
	return the.rank;
}

void
ranks_gather(void *all, const void *own, size_t bytes)
{
	if (the.count == 1) {
		memmove(all, own, bytes);
		return;
	}
	post((struct operation){
	    .kind = GATHER, .values = all, .own = own, .size = bytes });
	ranks_wait();
}

void
ranks_add(double *values, size_t count)
{
	size_t N = (size_t)the.count;

	if (N == 1 || !count)
		return;
	double *all = mem_new(N * count, sizeof *all);
	ranks_gather(all, values, count * sizeof *values);
	for (size_t i = 0; i < count; i++) {
		values[i] = all[i];
		for (size_t r = 1; r < N; r++)
			values[i] += all[r * count + i];
	}
	free(all);
}

void
ranks_sum(float *values, const size_t *starts)
{
	if (the.count > 1)
		post((struct operation){
		    .kind = SUM, .values = values, .starts = (size_t *)starts });
}

void
ranks_share(void *values, const size_t *starts, size_t size)
{
	if (the.count > 1)
		post((struct operation){ .kind = SHARE,
		    .values = values,
		    .size = size,
		    .starts = (size_t *)starts });
}

struct ranks_traffic
ranks_traffic(void)
{
	return the.traffic;
}

void
ranks_hurry(void)
{
	atomic_store(&the.hurry, true);
}

void
ranks_abort(int status)
{
	if (the.count == 1)
		return;
	atomic_store(&the.abort, status + 1);
	if (pthread_equal(pthread_self(), the.thread))
		leave_if_aborted();
	post((struct operation){
	    .kind = FINISH }); /* the thread may sleep, with nothing to do */
	sleep(LAST_SECONDS);
}
