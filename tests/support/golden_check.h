/*
 * golden_check.h - what the programs that hold a model to values of torch share: verdicts, and
 * distances from what a file has.
 *
 * Only test programs of one file include it; that is why it holds functions.
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

/* Greatest difference, relative to the greatest value wanted.  Some gradients are zero by
 * nature (a bias of the keys shifts all scores of a row alike): hence the floor. */
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

/* Stored values need not be aligned. */
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
