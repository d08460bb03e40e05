/*
 * A program for any processor (make ARCH=any) has the kernels of cpu/ once for each instruction set, their names with a suffix; the
 * names of nn.h jump to the best set that this processor has, or that MOTES_ISA allows.  kernels.inc has a line
 * KERNEL(name) for each name.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(name)                                                                     \
	extern char name##_x86_64[], name##_x86_64_v3[], name##_x86_64_v4[];             \
	void *name##_chosen;                                                             \
	__asm__(                                                                         \
	    ".pushsection .text\n\t.globl " #name "\n\t.type " #name                     \
	    ", @function\n" #name ":\n\tjmp *" #name "_chosen(%rip)\n\t.popsection\n");
#include <kernels.inc>
#undef KERNEL

static bool
named(const char *const *names, const char *wanted)
{
	for (; *names; names++)
		if (!strcmp(*names, wanted))
			return true;
	return false;
}

/* Before main, and so before any call of a kernel. */
__attribute__((constructor)) static void
choose(void)
{
	static const char *const narrow[] = { "avxvnni", "avx2", NULL };
	const char *wanted = getenv("MOTES_ISA");
	bool plain = wanted && !strcmp(wanted, "plain");
	bool v3 = !plain && __builtin_cpu_supports("avx2") &&
		  __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
		  __builtin_cpu_supports("bmi2");
	bool v4 =
	    v3 && !(wanted && named(narrow, wanted)) &&
	    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl");

#define KERNEL(name)                                                                     \
	name##_chosen = v4 ? name##_x86_64_v4 : v3 ? name##_x86_64_v3 : name##_x86_64;
#include <kernels.inc>
#undef KERNEL
}
