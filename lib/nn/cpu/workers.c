#include <omp.h>

#include "nn/cpu/microkernel.h"

size_t
nn_workers(void)
{
	return (size_t)omp_get_max_threads();
}

size_t
nn_worker_tokens(enum dtype kind)
{
	const struct microkernel *kernel = kind == DTYPE_F32 ? NULL : microkernel(kind);

	return kernel ? kernel->tokens : 512;
}

/* They stay in cache between two GEMMs; with fewer, weights would be packed too often. */
size_t
nn_chunk_rows(void)
{
	return 512;
}

void
nn_parallel_for(
    size_t count, void (*job)(void *context, size_t worker, size_t i), void *context)
{
	/* in a parallel region, even of one thread, libgomp would start new threads for each region inside */
	if (count == 1) {
		job(context, 0, 0);
		return;
	}
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++)
		job(context, (size_t)omp_get_thread_num(), i);
}
