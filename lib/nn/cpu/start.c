#include "nn/nn.h"

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
