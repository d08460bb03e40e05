#include "nn/nn.h"

#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/cpu/cpu.h"

/* Start. --------------------------------------------------------------------------- */

static bool
listed(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

/*
 * The products here need no BLAS, but linalg and search do, and OpenBLAS 0.3.21 takes newer
 * processors for old ones.  A weak reference does not pull the library in: these are NULL in
 * programs that do without it, and such a program starts in a millisecond.
 */
extern char *openblas_get_corename(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* The kernels that OpenBLAS should use here; NULL when its own choice is good. */
static const char *
better_kernels(void)
{
	/* the families that OpenBLAS has for processors without AVX2, and for those with it */
	static const char *const sse[] = { "Katmai", "Coppermine", "Northwood",
		"Prescott", "Banias", "Atom", "Core2", "Penryn", "Dunnington", "Nehalem",
		"Sandybridge", "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat",
		"Bulldozer", "Piledriver", "Steamroller", "Nano", "generic", NULL };
	static const char *const avx2[] = { "Haswell", "Zen", "Excavator", NULL };
	const char *chosen = openblas_get_corename();

	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		return listed(chosen, sse) || listed(chosen, avx2) ? "SkylakeX" : NULL;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return listed(chosen, sse) ? "Haswell" : NULL;
	return NULL;
}

/* Set what libraries read when they are loaded; true when anything was not as it should be. */
static bool
set_environment(int threads)
{
	bool changed = false;
	const char *kernels = NULL;

	if (openblas_get_corename && !getenv("OPENBLAS_CORETYPE"))
		kernels = better_kernels();
	if (kernels)
		changed = setenv("OPENBLAS_CORETYPE", kernels, 1) == 0;
	/*
	 * A thread that waits for another turns in a loop, by default for so long that programs
	 * which share the processors, as those of a pipe do, stop each other: 5.6 s for one short
	 * text on two busy cores, instead of 0.3 s.  Sleep after some 50 us.
	 */
	if (threads != 1 && !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT"))
		changed |= setenv("OMP_WAIT_POLICY", "passive", 1) == 0 &&
			   setenv("GOMP_SPINCOUNT", "2000", 1) == 0;
	return changed;
}

void
nn_start(int threads, char **argv)
{
	bool able = NN_LANES == 8 || __builtin_cpu_supports("avx512f");
#if defined __AVX2__ && defined __FMA__
	able = able && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	if (!able)
		die("this program was built for another processor; build it with make "
		    "ARCH=native");
	if (set_environment(threads)) {
		/* by its name, so that ps(1) shows that; by the link if the file was replaced */
		char path[4096] = "";
		if (readlink("/proc/self/exe", path, sizeof path - 1) > 0)
			execv(path, argv);
		execv("/proc/self/exe", argv);
		inform("the program could not restart itself with better settings:");
	}
	if (threads > 0)
		omp_set_num_threads(threads);
	if (openblas_set_num_threads)
		openblas_set_num_threads(omp_get_max_threads());
}

const char *
nn_about(void)
{
	static char text[200];
	int used =
	    snprintf(text, sizeof text, "cpu, own kernels of %d-bit vectors, %d threads",
		NN_LANES * 32, omp_get_max_threads());

	if (openblas_get_corename)
		snprintf(text + used, sizeof text - (size_t)used, ", OpenBLAS %s kernels",
		    openblas_get_corename());
	return text;
}

/* Memory. -------------------------------------------------------------------------- */

enum { PAGES = 4 << 20, ALIGNMENT = 64 };

void *
nn_alloc(size_t bytes)
{
	size_t rounded = mem_add(bytes, ALIGNMENT, "memory") & ~(size_t)(ALIGNMENT - 1);

	if (bytes >= PAGES) {
		void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			die("out of memory: %zu bytes were asked for", bytes);
		madvise(pages, bytes, MADV_HUGEPAGE);
		return pages;
	}
	void *memory = aligned_alloc(ALIGNMENT, rounded);
	if (!memory)
		die("out of memory: %zu bytes were asked for", bytes);
	return memset(memory, 0, rounded);
}

void
nn_free(void *memory, size_t bytes)
{
	if (memory && bytes >= PAGES)
		munmap(memory, bytes);
	else
		free(memory);
}

void
nn_upload(void *to, const void *host, size_t bytes)
{
	if (bytes)
		memcpy(to, host, bytes);
}

void
nn_download(void *host, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(host, from, bytes);
}

const float *
nn_weights(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	const size_t block = 1 << 16, width = dtype_size(dtype);

	*copied = dtype != DTYPE_F32 || (uintptr_t)host % sizeof(float) != 0;
	if (!*copied)
		return host;
	float *weights = nn_alloc(mem_multiply(n, sizeof *weights, "weights"));
#pragma omp parallel for schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i += block)
		tensor_to_f32(weights + i, (const char *)host + i * width, dtype,
		    n - i < block ? n - i : block);
	return weights;
}

struct nn_matrix
nn_matrix_of(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	bool half = dtype == DTYPE_F16 || dtype == DTYPE_BF16;

	*copied = false;
	if (half && (uintptr_t)host % sizeof(uint16_t) == 0)
		return (struct nn_matrix){ host, dtype };
	return (struct nn_matrix){ nn_weights(host, dtype, n, copied), DTYPE_F32 };
}

/* Vectors. ------------------------------------------------------------------------- */

void
nn_copy(float *y, const float *x, size_t n)
{
#pragma omp parallel for simd schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i++)
		y[i] = x[i];
}

void
nn_zero(float *y, size_t n)
{
#pragma omp parallel for simd schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i++)
		y[i] = 0;
}

void
nn_scale(float *x, float by, size_t n)
{
#pragma omp parallel for simd schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i++)
		x[i] *= by;
}

void
nn_add(float *y, const float *x, size_t n)
{
#pragma omp parallel for simd schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i++)
		y[i] += x[i];
}

static double
square_sum(const float *x, size_t n)
{
	double sum = 0;

#pragma omp simd reduction(+ : sum)
	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * x[i];
	return sum;
}

double
nn_square_sum(const float *x, size_t n)
{
	/* blocks are summed in their order, whoever computed them */
	enum { BLOCK = 1 << 14, BLOCKS = 256 };
	double sum = 0;

	while (n) {
		double part[BLOCKS] = { 0 };
		size_t some = n < (size_t)BLOCK * BLOCKS ? n : (size_t)BLOCK * BLOCKS;
#pragma omp parallel for schedule(static) if (some > NN_SERIAL)
		for (size_t i = 0; i < some; i += BLOCK)
			part[i / BLOCK] =
			    square_sum(x + i, some - i < BLOCK ? some - i : BLOCK);
		for (size_t i = 0; i < BLOCKS; i++)
			sum += part[i];
		x += some;
		n -= some;
	}
	return sum;
}

void
nn_gather(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t r = 0; r < R; r++)
		memcpy(y + r * C, x + (size_t)rows[r] * C, C * sizeof *y);
}

void
nn_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
	/* rows may repeat, columns do not: each thread owns some columns */
#pragma omp parallel for schedule(static) if (R * C > NN_SERIAL)
	for (size_t from = 0; from < C; from += NN_SLICE) {
		size_t to = from + NN_SLICE < C ? from + NN_SLICE : C;
		for (size_t r = 0; r < R; r++)
#pragma omp simd
			for (size_t c = from; c < to; c++)
				y[(size_t)rows[r] * C + c] += x[r * C + c];
	}
}

bool
nn_finite(const float *x, size_t n)
{
	int32_t bad = 0;

#pragma omp parallel for simd schedule(static) reduction(| : bad) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i++)
		bad |= (nn_bits(x[i]) & 0x7f800000) == 0x7f800000;
	return !bad;
}
