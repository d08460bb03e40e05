/*
 * quantize - floats to u8: each row has its own scale and zero point.  microkernel(DTYPE_I8) reads the result as its x.
 */
#ifndef NN_CPU_QUANTIZE_H
#define NN_CPU_QUANTIZE_H

#include <stddef.h>

/* A float of the row is about value * scale + base. */
struct row_scale {
	float scale, base;
};

/* Before a row is quantised, shift[column] is subtracted from its values, or they are multiplied by smooth[column].  At least one
 * of the two arrays is NULL. */
struct row_map {
	const float *shift, *smooth;
};

/*
 * to, scales[rows] = rows of `terms` floats, ld apart, mapped.  A row of `to` has `bytes` bytes, at least `terms`, the rest of them
 * zeros; twice as many if the microkernel widens.  terms is at most NN_MAX_PACKED.  The scale of a row that is not finite is NaN,
 * and so is all that is computed from it.
 */
void quantize_rows(char *to, struct row_scale *scales, const float *x, size_t ld,
    const struct row_map *map, size_t rows, size_t terms, size_t bytes);

#endif
