/*
 * npy - NumPy's array files, versions 1 to 3.
 *
 * f32, f16, f64, i8, i32, i64, u8 and bool, of either order of bytes and of axes; others are refused, naming
 * the file and what to do.  Written are little-endian ones in C order.  NumPy has no bf16.
 */
#ifndef MTS_NPY_H
#define MTS_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/input.h"
#include "base/output.h"
#include "stream/tensor.h"

enum { NPY_RANK = 8 };

struct npy {
	enum dtype dtype;
	int rank;
	int64_t shape[NPY_RANK];
	bool swapped; /* big-endian */
	bool fortran; /* the first axis is the fastest */
	char *data;   /* of such an array, all of it */
	int64_t row;  /* that comes next */
};

/* Read the header, and the data of an array in Fortran order.  Free with npy_free. */
struct npy npy_read(struct input *input);

/* The next `count` rows, of the first axis, in C order and in this machine's order of bytes.  Dies where the file is cut
 * short. */
void npy_rows(struct input *input, struct npy *npy, void *to, int64_t count);
void npy_free(struct npy *npy);

/* Write the header. */
void npy_write(struct output *output, const struct npy *npy);

#endif
