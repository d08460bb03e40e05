#include "stream/tensor.h"

#include <string.h>

#include "base/err.h"

static const struct {
	const char *name;
	size_t size;
} dtypes[DTYPE_COUNT] = {
	[DTYPE_F32] = { "f32", 4 },
	[DTYPE_F16] = { "f16", 2 },
	[DTYPE_BF16] = { "bf16", 2 },
	[DTYPE_F64] = { "f64", 8 },
	[DTYPE_I8] = { "i8", 1 },
	[DTYPE_I32] = { "i32", 4 },
	[DTYPE_I64] = { "i64", 8 },
	[DTYPE_U8] = { "u8", 1 },
	[DTYPE_BOOL] = { "bool", 1 },
};

const char *
dtype_name(enum dtype dtype)
{
	return dtypes[dtype].name;
}

size_t
dtype_size(enum dtype dtype)
{
	return dtypes[dtype].size;
}

bool
dtype_is_float(enum dtype dtype)
{
	return dtype <= DTYPE_F64;
}

bool
dtype_parse(const char *name, enum dtype *dtype)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!strcmp(name, dtypes[i].name)) {
			*dtype = (enum dtype)i;
			return true;
		}
	return false;
}

static float
float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static uint32_t
bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

float
f16_widen(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;

	if (exponent == 31)
		return float_of(sign | 0x7f800000 | mantissa << 13);
	if (exponent)
		return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
	float tiny = (float)mantissa * 0x1p-24f;
	return sign ? -tiny : tiny;
}

uint16_t
f16_narrow(float value)
{
	uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (magnitude >= 0x477ff000) /* rounds past the largest half, 65504 */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) { /* subnormal: let the adder round */
		float shifted = float_of(magnitude) + 0.5f;
		return (uint16_t)(sign | (bits_of(shifted) - 0x3f000000));
	}
	uint32_t odd = magnitude >> 13 & 1;
	return (uint16_t)(sign | (magnitude - 0x38000000 + 0xfff + odd) >> 13);
}

float
bf16_widen(uint16_t brain)
{
	return float_of((uint32_t)brain << 16);
}

uint16_t
bf16_narrow(float value)
{
	uint32_t bits = bits_of(value);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 64);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* One element; the caller's loop steps by dtype_size. */
static double
element(const char *from, enum dtype dtype)
{
	uint16_t half;
	int32_t i32;
	int64_t i64;
	float f32;
	double f64;

	switch (dtype) {
	case DTYPE_F32: memcpy(&f32, from, 4); return (double)f32;
	case DTYPE_F16: memcpy(&half, from, 2); return (double)f16_widen(half);
	case DTYPE_BF16: memcpy(&half, from, 2); return (double)bf16_widen(half);
	case DTYPE_F64: memcpy(&f64, from, 8); return f64;
	case DTYPE_I8: return *(const signed char *)from;
	case DTYPE_I32: memcpy(&i32, from, 4); return i32;
	case DTYPE_I64: memcpy(&i64, from, 8); return (double)i64;
	case DTYPE_U8:
	case DTYPE_BOOL: return *(const unsigned char *)from;
	default: die("dtype %d is unknown", (int)dtype);
	}
}

void
tensor_to_f32(float *to, const void *from, enum dtype dtype, size_t count)
{
	const char *bytes = from;
	size_t size = dtype_size(dtype);

	if (dtype == DTYPE_F32) {
		memcpy(to, from, count * size);
		return;
	}
	if (dtype == DTYPE_BF16) {
		for (size_t i = 0; i < count; i++) {
			uint16_t brain;
			memcpy(&brain, bytes + 2 * i, 2);
			to[i] = bf16_widen(brain);
		}
		return;
	}
	if (dtype == DTYPE_F16) {
		for (size_t i = 0; i < count; i++) {
			uint16_t half;
			memcpy(&half, bytes + 2 * i, 2);
			to[i] = f16_widen(half);
		}
		return;
	}
	if (dtype == DTYPE_I8) {
		for (size_t i = 0; i < count; i++)
			to[i] = (float)(signed char)bytes[i];
		return;
	}
	for (size_t i = 0; i < count; i++)
		to[i] = (float)element(bytes + i * size, dtype);
}

void
tensor_to_f64(double *to, const void *from, enum dtype dtype, size_t count)
{
	const char *bytes = from;
	size_t size = dtype_size(dtype);

	for (size_t i = 0; i < count; i++)
		to[i] = element(bytes + i * size, dtype);
}

long double
tensor_number(const void *from, enum dtype dtype, int64_t index)
{
	const char *at = (const char *)from + (size_t)index * dtype_size(dtype);
	int64_t whole;

	if (dtype != DTYPE_I64)
		return (long double)element(at, dtype);
	memcpy(&whole, at, sizeof whole);
	return whole;
}

void
tensor_from_f32(void *to, enum dtype dtype, const float *from, size_t count)
{
	char *bytes = to;

	for (size_t i = 0; i < count; i++) {
		uint16_t half;
		double f64 = (double)from[i];
		switch (dtype) {
		case DTYPE_F32: memcpy(bytes + 4 * i, from + i, 4); break;
		case DTYPE_F16:
			half = f16_narrow(from[i]);
			memcpy(bytes + 2 * i, &half, 2);
			break;
		case DTYPE_BF16:
			half = bf16_narrow(from[i]);
			memcpy(bytes + 2 * i, &half, 2);
			break;
		case DTYPE_F64: memcpy(bytes + 8 * i, &f64, 8); break;
		default: die("floats cannot be stored as %s", dtype_name(dtype));
		}
	}
}
