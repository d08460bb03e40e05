/*
 * npy - NumPy's array files (.npy), versions 1 to 3.
 *
 * Reads f32, f16, f64, i8, i32, i64, u8 and bool of either byte order, in C or Fortran order; dies on other dtypes,
 * naming the file and what to do.  Writes little-endian, C order.  NumPy has no bf16.
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
	bool fortran; /* the first axis varies fastest */
	char *data;   /* a whole Fortran-order array, else NULL */
	int64_t row;  /* the next row */
};

/* Reads the header, and all data of an array in Fortran order.  Free with npy_free. */
struct npy npy_read(struct input *input);

/* Reads the next `count` rows (of the first axis) in C order and native byte order.  Dies if the file is truncated. */
void npy_rows(struct input *input, struct npy *npy, void *to, int64_t count);
void npy_free(struct npy *npy);

/* Writes the header. */
void npy_write(struct output *output, const struct npy *npy);

#endif
