#include <omp.h>

#include "nn/nn.h"

size_t
nn_workers(void)
{
	return (size_t)omp_get_max_threads();
}

/* What a layer makes of 128 stays in the second cache; but matrices that are not packed are turned for each product,
 * at the cost of some ten rows. */
size_t
nn_worker_tokens(bool packed)
{
	return packed ? 128 : 512;
}

void
nn_each(size_t count, void (*job)(void *context, size_t worker, size_t i), void *context)
{
	/* within a parallel region, though of one thread, libgomp makes new threads for each region inside */
	if (count == 1) {
		job(context, 0, 0);
		return;
	}
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++)
		job(context, (size_t)omp_get_thread_num(), i);
}
