/*
 * hopper_epilogue - what becomes of a warp's sums in gemm_hopper.cu: bias, activation or gate, rounding to bf16, and the way through
 * shared memory to whole rows of y.
 */
#ifndef NN_CUDA_HOPPER_EPILOGUE_H
#define NN_CUDA_HOPPER_EPILOGUE_H

#include "nn/cuda/device.h"
#include "nn/cuda/hardware_hopper.h"

namespace
{

constexpr int TALL = 2; /* blocks of 64 rows of a tile */

/* Columns of y that a warp writes at once, through shared memory; bytes of a row there, an odd multiple of 16. */
constexpr int STAGED = 64, STAGED_ROW = STAGED * 2 + 16, STAGED_WARP = 16 * STAGED_ROW;

/* A product of a launch. */
struct part {
	const float *bias, *gate_bias;
	__nv_bfloat16 *y;
	int row, rows_end; /* of x and y */
	int O, across; /* across: its first tile of a cluster in the row of its strip */
};

/*
 * GELU's x Phi(x) = max(x, 0) - |x| Phi(-|x|).  A polynomial has log2 Phi(-t) for t of 0 to 5.5, so that the value is right to 2^-11.9
 * of it down to x = -5.5, and to 1.1e-7 below.
 */
__device__ __forceinline__ float
gelu(float x)
{
	float t = fminf(fabsf(x), 5.5f), r = -2.33251296e-04f;

	r = fmaf(r, t, 4.86977398e-03f);
	r = fmaf(r, t, -4.45990190e-02f);
	r = fmaf(r, t, -4.69681054e-01f);
	r = fmaf(r, t, -1.14626086f);
	r = fmaf(r, t, -1.00035906f);
	return fmaf(-t, exp2_quick(r), max_or_nan(x, 0));
}

__device__ __forceinline__ float
sigmoid(float x)
{
	return reciprocal_quick(1 + exp2_quick(-1.44269504f * x));
}

template <enum nn_act ACT>
__device__ __forceinline__ float
act_value(float x)
{
	switch (ACT) {
	case NN_GELU: return gelu(x);
	case NN_GELU_TANH: return x * sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
	case NN_SILU: return x * sigmoid(x);
	case NN_SIGMOID: return sigmoid(x);
	case NN_TANH: return tanhf(x);
	case NN_TANH_INT8: return rintf(127 * tanhf(x));
	case NN_RELU: return x > 0 ? x : 0;
	}
	return x;
}

struct plain {
	static constexpr bool GATED = false;
	static __device__ __forceinline__ float
	of(float sum, float)
	{
		return sum;
	}
};
template <enum nn_act ACT> struct activate {
	static constexpr bool GATED = false;
	static __device__ __forceinline__ float
	of(float sum, float)
	{
		return act_value<ACT>(sum);
	}
};
template <enum nn_act ACT> struct gated {
	static constexpr bool GATED = true;
	static __device__ __forceinline__ float
	of(float sum, float gate)
	{
		return sum * act_value<ACT>(gate);
	}
};

/* Sums begin as the bias. */
template <int WIDE, class E>
__device__ __forceinline__ void
begin(float (&sums)[TALL][WIDE / 2], const struct part &part, int column)
{
	constexpr int OUT = E::GATED ? WIDE / 2 : WIDE;

#pragma unroll
	for (int j = 0; j < WIDE / 8; j++) {
		const float *bias = 8 * j < OUT ? part.bias : part.gate_bias;
		int at = column + 8 * j % OUT + threadIdx.x % 4 * 2;
		float2 two = bias && at < part.O ? *(const float2 *)(bias + at)
						 : make_float2(0, 0);
#pragma unroll
		for (int m = 0; m < TALL; m++) {
			sums[m][4 * j] = sums[m][4 * j + 2] = two.x;
			sums[m][4 * j + 1] = sums[m][4 * j + 3] = two.y;
		}
	}
}

/* Writes a warp's 16 rows from `row` on of the sums of 64. */
template <int WIDE, class E>
__device__ __forceinline__ void
write_rows(const float (&sum)[WIDE / 2], char *staged, const struct part &part,
    size_t ldy, int row, int column)
{
	constexpr int OUT = E::GATED ? WIDE / 2 : WIDE;
	constexpr int ONCE = OUT % STAGED ? STAGED / 2 : STAGED;
	constexpr int CHUNKS = ONCE / 8;
	constexpr int GATE =
	    E::GATED ? WIDE / 4 : 0; /* the gate's sum is so much further */
	int lane = threadIdx.x % WARP, c = lane % CHUNKS;

#pragma unroll
	for (int from = 0; from < OUT; from += ONCE) {
#pragma unroll
		for (int j = 0; j < ONCE / 16; j++) {
			unsigned out[4];
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const float *s = sum + (from + 16 * j) / 2 + 2 * i;
				const float *g = s + GATE;
				out[i] = bf16_pair(E::of(s[0], g[0]), E::of(s[1], g[1]));
			}
			store_matrices(
			    staged + lane % 16 * STAGED_ROW + 32 * j + lane / 16 * 16,
			    out[0], out[1], out[2], out[3]);
		}
		__syncwarp();
#pragma unroll
		for (int i = 0; i < 16 * CHUNKS / WARP; i++) {
			int r = lane / CHUNKS + i * (WARP / CHUNKS);
			int at = column + from + 8 * c;
			if (row + r < part.rows_end && at < part.O)
				*(uint4 *)(part.y + (size_t)(row + r) * ldy + at) =
				    *(const uint4 *)(staged + r * STAGED_ROW + 16 * c);
		}
		__syncwarp();
	}
}
} // namespace

#endif
