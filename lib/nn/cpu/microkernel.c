#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/err.h"
#include "nn/cpu/cpu.h"
#include "nn/cpu/microkernel.h"

static void
plain_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t p = 0; p < panels; p++) {
			const uint8_t *a = (const uint8_t *)x + r * depth;
			const int8_t *b = (const int8_t *)w + p * depth * PACKED_PANEL;
			int32_t total[PACKED_PANEL] = { 0 };
			for (size_t k = 0; k < depth; k += 4, b += 4 * PACKED_PANEL)
				for (size_t n = 0; n < PACKED_PANEL; n++)
					for (size_t i = 0; i < 4; i++)
						total[n] += a[k + i] * b[4 * n + i];
			memcpy(sums + r * PACKED_WIDTH + p * PACKED_PANEL, total,
			    sizeof total);
		}
}

static bool
never(void)
{
	return false;
}

static const struct microkernel plain = { "plain", DTYPE_I8, 1, 512, 4, plain_sums,
	.quicker = never };

#if !defined __x86_64__ && !defined __aarch64__
const struct microkernel *
microkernels_native(void)
{
	static const struct microkernel none = { .name = NULL };

	return &none;
}
#endif

bool
microkernel_quicker(const struct microkernel *kernel)
{
	return !kernel->quicker || kernel->quicker();
}

/* The quickest, or the one named `wanted`; NULL if there is none. */
static const struct microkernel *
best(enum dtype dtype, const char *wanted)
{
	for (const struct microkernel *at = microkernels_native(); at->name; at++)
		if (at->dtype == dtype && at->has() &&
		    (wanted ? !strcmp(wanted, at->name) : microkernel_quicker(at)))
			return at;
	return dtype == DTYPE_I8 && (!wanted || !strcmp(wanted, plain.name)) ? &plain
									     : NULL;
}

static const struct microkernel *chosen_i8, *chosen_bf16;

static void
choose(void)
{
	const char *wanted = getenv("MOTES_ISA");

	wanted = wanted && *wanted ? wanted : NULL;
	chosen_i8 = best(DTYPE_I8, wanted);
	chosen_bf16 = best(DTYPE_BF16, wanted);
	if (!chosen_i8 && !chosen_bf16)
		die("MOTES_ISA: this processor has no '%s'; unset it", wanted);
	if (!chosen_i8) /* arm64's bf16 names no instructions for bytes */
		chosen_i8 = best(DTYPE_I8, NULL);
}

const struct microkernel *
microkernel(enum dtype dtype)
{
	static once_flag once = ONCE_FLAG_INIT;

	call_once(&once, choose);
	return dtype == DTYPE_I8 ? chosen_i8 : chosen_bf16;
}
