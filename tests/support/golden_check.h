/*
 * golden_check.h - shared by the programs that compare a model with torch: verdicts, and distances from a file's values
 *
 * It holds functions because only test programs of one source file include it.
 */
#ifndef GOLDEN_CHECK_H
#define GOLDEN_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/safetensors.h"

static bool failed;

static inline void
verdict(const char *what, const char *name, double error, double most)
{
	bool bad = !(error <= most);

	printf(
	    "%s %s %s: %.3g (at most %g)\n", bad ? "BAD" : "ok", what, name, error, most);
	failed |= bad;
}

/* The greatest difference, relative to the greatest expected value or a floor, because some gradients are zero but for
 * rounding (a bias of the keys shifts all scores of a row equally). */
static inline double
distance(const float *got, const float *wanted, size_t n)
{
	double worst = 0, scale = 5e-2;

	for (size_t i = 0; i < n; i++) {
		double d = fabs((double)got[i] - (double)wanted[i]);
		worst = d > worst || isnan(d) ? d : worst;
		scale = fmax(scale, fabs((double)wanted[i]));
	}
	return worst / scale;
}

/* A copy of the values that is aligned, as stored values need not be. */
static inline void *
aligned(const struct safetensor *tensor)
{
	size_t bytes = tensor->count * dtype_size(tensor->dtype);

	return memcpy(mem_new(bytes, 1), tensor->data, bytes);
}

/* The first value of a tensor of f32. */
static inline double
number(const struct safetensors *file, const char *name)
{
	float *at = aligned(safetensors_need(file, name));
	double value = (double)*at;

	free(at);
	return value;
}

#endif
