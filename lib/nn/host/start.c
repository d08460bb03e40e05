#include "nn/host/host.h"

#include <errno.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "nn/host/cpu_limit.h"

/*
 * The products here need no BLAS, but search and clustering do, and OpenBLAS 0.3.21 takes newer
 * processors for old ones.  A weak reference does not pull the library in: these are NULL in
 * programs that do without it, and such a program starts in a millisecond.
 */
extern char *openblas_get_corename(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

#ifdef __x86_64__
static bool
listed(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

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
#else
static const char *
better_kernels(void)
{
	return NULL;
}
#endif

enum { STACK_LEAST = 2 << 20 }; /* of a thread: a panel of a product is over 1 MB */

/* The bytes that OMP_STACKSIZE says, a number of KiB without a unit; 0: no number. */
static double
said_stack(const char *text)
{
	static const char units[] = "bkmg";
	char *end;
	double size = strtod(text, &end);

	end += strspn(end, " ");
	const char *unit = *end ? strchr(units, *end | ' ') : units + 1;
	for (; unit && unit > units; unit--)
		size *= 1024;
	return unit ? size : 0;
}

/* Enlarges the stacks that are too small, of the first thread and the others; true if one was. */
static bool
enlarge_stacks(void)
{
	struct rlimit limit;
	const char *said = getenv("OMP_STACKSIZE");
	double size = said ? said_stack(said) : 0;
	bool changed =
	    size > 0 && size < STACK_LEAST && setenv("OMP_STACKSIZE", "2M", 1) == 0;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST)
		return changed;
	limit.rlim_cur = STACK_LEAST;
	if (limit.rlim_max < STACK_LEAST || setrlimit(RLIMIT_STACK, &limit) != 0)
		die("a thread needs a stack of %d KB, more than ulimit -s allows",
		    STACK_LEAST >> 10);
	return true;
}

/* Set what libraries read when they are loaded; true when anything was not as it should be. */
static bool
set_environment(int threads)
{
	bool changed = enlarge_stacks();
	const char *kernels = NULL;

	if (openblas_get_corename && !getenv("OPENBLAS_CORETYPE"))
		kernels = better_kernels();
	if (kernels && setenv("OPENBLAS_CORETYPE", kernels, 1) != 0)
		die("OPENBLAS_CORETYPE=%s, without which results have other bits: %s",
		    kernels, strerror(errno));
	changed |= kernels != NULL;
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

/* What OpenBLAS starts with: the processors, or fewer by a variable, of which getenv knows none yet. */
static long
threads_at_start(char *const *environment)
{
	static const char *const names[] = {
		"OPENBLAS_NUM_THREADS=", "GOTO_NUM_THREADS=", "OMP_NUM_THREADS=", NULL
	};
	long threads = sysconf(_SC_NPROCESSORS_ONLN);

	for (; *environment; environment++) {
		for (int i = 0; names[i]; i++) {
			size_t length = strlen(names[i]);
			long number = strncmp(*environment, names[i], length) == 0
					  ? strtol(*environment + length, NULL, 10)
					  : 0;
			if (number > 0 && number < threads)
				threads = number;
		}
	}
	return threads;
}

/*
 * OpenBLAS takes 128 MB of addresses for each of its threads and each of ours that calls it, beside the stacks, and asks
 * for ever where a limit refuses them.  Ends the program instead, before the loader starts OpenBLAS: nothing of the C
 * library has started, so that this writes by itself.
 */
static void
before_libraries(int count, char **argv, char **environment)
{
	struct rlimit limit;

	if (!openblas_set_num_threads || count < 1 || getrlimit(RLIMIT_AS, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return;
	long threads = threads_at_start(environment);
	size_t need = ((size_t)threads * 2 + 1) * (136 << 20);
	void *room = mmap(
	    NULL, need, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room != MAP_FAILED && munmap(room, need) == 0)
		return;
	const char *slash = strrchr(argv[0], '/');
	dprintf(STDERR_FILENO,
	    "%s: OpenBLAS needs %zu MB of addresses for %ld thread%s, more than ulimit -v leaves; raise it%s\n",
	    slash ? slash + 1 : argv[0], need >> 20, threads, threads == 1 ? "" : "s",
	    threads == 1 ? "" : ", or set OMP_NUM_THREADS lower");
	_exit(EXIT_FAILURE);
}

__attribute__((section(".preinit_array"), used)) static void (*const start)(
    int, char **, char **) = before_libraries;

void
host_start(int threads, char **argv)
{
	if (set_environment(threads)) {
		/* by its name, so that ps(1) shows that; by the link if the file was replaced */
		char path[4096] = "";
		if (readlink("/proc/self/exe", path, sizeof path - 1) > 0)
			execv(path, argv);
		execv("/proc/self/exe", argv);
		inform("the program could not restart itself with better settings:");
	}
	int limit = threads > 0 || getenv("OMP_NUM_THREADS") ? 0 : cpu_limit("");
	if (limit > 0 && limit < omp_get_max_threads())
		threads = limit;
	if (threads > 0)
		omp_set_num_threads(threads);
	omp_set_dynamic(0); /* OpenBLAS waits for every thread that it was promised */
	if (openblas_set_num_threads)
		openblas_set_num_threads(omp_get_max_threads());
}

const char *
host_about(void)
{
	static char text[100];

	if (openblas_get_corename)
		snprintf(
		    text, sizeof text, ", OpenBLAS %s kernels", openblas_get_corename());
	return text;
}
