#include "nn/bf16.h"

#include <omp.h>
#include <stdio.h>

#include "base/err.h"
#include "nn/cpu/cpu.h"
#include "nn/cpu/microkernel.h"
#include "nn/host/host.h"

#ifdef __x86_64__
/* True if the processor has the instructions that this file was compiled for. */
static bool
able(void)
{
#if defined __AVX2__ && defined __FMA__
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return false;
#endif
	return NN_LANES == 8 || __builtin_cpu_supports("avx512f");
}
#else
static bool
able(void)
{
	return true;
}
#endif

void
nn_start(int threads, char **argv)
{
	if (!able())
		die("this program was built for another processor; build it with make ARCH=native");
	host_start(threads, argv);
}

const char *
nn_about(void)
{
	const struct microkernel *bf16 = microkernel(DTYPE_BF16);
#ifdef __AVX__
	const int bits = NN_LANES * 32;
#else
	const int bits = 128;
#endif
	static char text[200];

	snprintf(text, sizeof text,
	    "cpu, own kernels of %d-bit vectors, %d threads, int8 by %s, bf16 %s%s%s",
	    bits, omp_get_max_threads(), microkernel(DTYPE_I8)->name,
	    bf16 ? "by " : "as f32", bf16 ? bf16->name : "", host_about());
	return text;
}

size_t
nn_workers(void)
{
	return (size_t)omp_get_max_threads();
}

size_t
nn_use_threads(size_t threads)
{
	int before = omp_get_max_threads();

	omp_set_num_threads((int)threads);
	return (size_t)before;
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

/* One core's GEMM takes longer than its activations' way from the cache. */
const struct nn_bf16 *
nn_bf16(void)
{
	return NULL;
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
	if (nn_count_region)
		nn_count_region(true, true);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++) {
		if (nn_count_job)
			nn_count_job(i);
		job(context, (size_t)omp_get_thread_num(), i);
	}
}
