#include "nn/cuda/device.h"

namespace
{

constexpr int HEADS = 4 /* of a thread, which shares an angle among them */, TOKENS = 8;

/* All are read before any is written, so that the reads overlap. */
__device__ __forceinline__ void
rotate(float *x, size_t D, int heads, float sine, float cosine)
{
	float first[HEADS], second[HEADS];
	size_t half = D / 2;

#pragma unroll
	for (int h = 0; h < HEADS; h++)
		if (h < heads) {
			first[h] = x[(size_t)h * D];
			second[h] = x[(size_t)h * D + half];
		}
#pragma unroll
	for (int h = 0; h < HEADS; h++)
		if (h < heads) {
			x[(size_t)h * D] = first[h] * cosine - second[h] * sine;
			x[(size_t)h * D + half] = second[h] * cosine + first[h] * sine;
		}
}

/* A warp has HEADS heads of a token, a lane every 32nd angle. */
__global__ void
turn(float *x, size_t ld, const float *inv, size_t step, const int32_t *starts, int N,
    int T, int heads, int D, int direction)
{
	int t = (int)blockIdx.x * TOKENS + (int)threadIdx.y;
	int first = (int)blockIdx.y * HEADS;

	if (t >= T)
		return;
	int n = segment_of(starts, N, t);
	float place = (float)(direction * (t - starts[n]));
	inv += (size_t)n * step;
	x += (size_t)t * ld + (size_t)first * (size_t)D;
	for (int i = (int)threadIdx.x; i < D / 2; i += WARP) {
		float sine, cosine;
		sincosf(place * inv[i], &sine, &cosine);
		rotate(x + i, (size_t)D, heads - first, sine, cosine);
	}
}
} // namespace

void
nn_rotary(float *x, size_t ld, const float *inv, size_t step,
    const struct nn_sequences *sequences, size_t heads, size_t D, int direction)
{
	dim3 grid(device_blocks(sequences->T, TOKENS), device_blocks(heads, HEADS));

	device_launch(turn, grid, dim3(WARP, TOKENS), 0, x, ld, inv, step,
	    sequences->starts, (int)sequences->N, (int)sequences->T, (int)heads, (int)D,
	    direction);
}
