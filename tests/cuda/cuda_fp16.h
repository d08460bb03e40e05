/* cuda_fp16 - the part of it that lib/nn/cuda uses; narrowing rounds to nearest, ties to even. */
#ifndef SHIM_CUDA_FP16_H
#define SHIM_CUDA_FP16_H

#include "shim_half.h"

struct __half {
	uint16_t bits;
};

static inline float
__half2float(__half x)
{
	return f16_widen(x.bits);
}

static inline __half
__float2half_rn(float x)
{
	return { f16_narrow(x) };
}

#endif
