/* shim_half - bf16 and f16 conversions of lib/stream/tensor.h for the headers beside this one. */
#ifndef SHIM_HALF_H
#define SHIM_HALF_H

#include <cstring>

extern "C" {
#include "stream/tensor.h"
}

/* bf16_widen, inline */
static inline float
half_value(uint16_t x)
{
	uint32_t bits = (uint32_t)x << 16;
	float y;

	memcpy(&y, &bits, sizeof y);
	return y;
}

#endif
