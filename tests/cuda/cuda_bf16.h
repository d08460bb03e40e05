/* cuda_bf16 - as much of it as lib/nn/cuda asks for; to narrow is to round to nearest, ties to even. */
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
