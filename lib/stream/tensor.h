/*
 * tensor - element types (dtypes): names, sizes, conversion to and from float.
 */
#ifndef STREAM_TENSOR_H
#define STREAM_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is fixed: tables are indexed by it. */
enum dtype {
	DTYPE_F32,
	DTYPE_F16,
	DTYPE_BF16,
	DTYPE_F64,
	DTYPE_I8,
	DTYPE_I32,
	DTYPE_I64,
	DTYPE_U8,
	DTYPE_BOOL,
	DTYPE_COUNT
};

/* "f32", ...; as in headers and messages. */
const char *dtype_name(enum dtype dtype);
size_t dtype_size(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);

/* False if the name is unknown. */
bool dtype_parse(const char *name, enum dtype *dtype);

/* IEEE half precision and bfloat16; narrowing rounds to nearest, ties to even. */
float f16_widen(uint16_t half);
uint16_t f16_narrow(float value);
float bf16_widen(uint16_t brain);
uint16_t bf16_narrow(float value);

/* Convert `count` elements of any dtype to float or double.  i64 beyond 2^53 loses digits.  Source and
 * target must not overlap and need no alignment. */
void tensor_to_f32(float *to, const void *from, enum dtype dtype, size_t count);
void tensor_to_f64(double *to, const void *from, enum dtype dtype, size_t count);

/* One element, exact even for i64. */
long double tensor_number(const void *from, enum dtype dtype, int64_t index);

/* Converts floats to a floating dtype. */
void tensor_from_f32(void *to, enum dtype dtype, const float *from, size_t count);

#endif
