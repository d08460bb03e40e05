#include "ranks/ranks.h"

#include <string.h>

#include "base/err.h"

void
ranks_start(void)
{
	if (ranks_launched() > 1)
		die("was started as one of %d processes, but is built to run alone: make MPI=1 builds it to train with others",
		    ranks_launched());
}

void
ranks_finish(void)
{
}

int
ranks_count(void)
{
	return 1;
}

int
ranks_own(void)
{
	return 0;
}

void
ranks_gather(void *all, const void *own, size_t bytes)
{
	memmove(all, own, bytes);
}

void
ranks_add(double *values, size_t count)
{
	(void)values;
	(void)count;
}

void
ranks_sum(float *values, const size_t *starts)
{
	(void)values;
	(void)starts;
}

void
ranks_share(void *values, const size_t *starts, size_t size)
{
	(void)values;
	(void)starts;
	(void)size;
}

void
ranks_wait(void)
{
}

struct ranks_traffic
ranks_traffic(void)
{
	return (struct ranks_traffic){ 0 };
}

void
ranks_hurry(void)
{
}

void
ranks_abort(int status)
{
	(void)status;
}
