/*
 * npy - the header of NumPy's array files, versions 1 to 3; the data are the caller's to read.
 *
 * Little-endian, C order.  f32, f16, f64, i8, i32, i64, u8 and bool; others, Fortran order and
 * big-endian files are refused, naming the file and what to do.  NumPy has no bf16.
 */
#ifndef MTS_NPY_H
#define MTS_NPY_H

#include <stdint.h>

#include "base/input.h"
#include "base/output.h"
#include "stream/tensor.h"

enum { NPY_RANK = 8 };

struct npy {
	enum dtype dtype;
	int rank;
	int64_t shape[NPY_RANK];
};

/* Read the header; the next bytes of the input are the data. */
struct npy npy_read(struct input *input);
void npy_write(struct output *output, const struct npy *npy);

#endif
