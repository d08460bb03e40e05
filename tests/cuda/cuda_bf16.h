/* cuda_bf16 - the part of it that lib/nn/cuda uses; narrowing rounds to nearest, ties to even. */
#ifndef SHIM_CUDA_BF16_H
#define SHIM_CUDA_BF16_H

#include "shim_half.h"

struct __nv_bfloat16 {
	uint16_t bits;
};

static inline float
__bfloat162float(__nv_bfloat16 x)
{
	return half_value(x.bits);
}

static inline __nv_bfloat16
__float2bfloat16_rn(float x)
{
	return { bf16_narrow(x) };
}

#endif
