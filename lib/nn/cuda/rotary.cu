#include "nn/cuda/bf16.h"

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

/* The heads of q and k that bf16_heads norms and turns. */
struct normed_heads {
	const float *w[2]; /* of the first H heads, of the others */
	float eps, plus;
	const float *inv;
	size_t step;
	const int32_t *starts;
	int N, T, H, heads, D;
};

/* Four neighbours of each half of a head: a lane's. */
struct head_part {
	float low[4], high[4];
};

static __device__ __forceinline__ void
widen_four(float (&x)[4], uint2 bits)
{
	x[0] = __uint_as_float(bits.x << 16);
	x[1] = __uint_as_float(bits.x & 0xffff0000);
	x[2] = __uint_as_float(bits.y << 16);
	x[3] = __uint_as_float(bits.y & 0xffff0000);
}

/* The lanes of a head: D / 8, rounded up to a power of two; several heads share a warp. */
template <int LANES> struct head_lanes {
	int lane, head, i; /* i: the lane's first element of each half */
	bool here;	   /* it has elements */

	__device__ __forceinline__
	head_lanes(int D)
	    : lane((int)threadIdx.x % LANES), head((int)threadIdx.x / LANES), i(4 * lane),
	      here(4 * lane < D / 2)
	{
	}

	__device__ __forceinline__ void
	take(struct head_part &part, const __nv_bfloat16 *x, int half) const
	{
		uint2 none = {}, low = none, high = none;

		if (here) {
			low = *(const uint2 *)(const void *)(x + i);
			high = *(const uint2 *)(const void *)(x + half + i);
		}
		widen_four(part.low, low);
		widen_four(part.high, high);
	}

	__device__ __forceinline__ void
	put(__nv_bfloat16 *x, const struct head_part &part, int half) const
	{
		uint2 low, high;

		if (!here)
			return;
		low.x = bf16_pair(part.low[0], part.low[1]);
		low.y = bf16_pair(part.low[2], part.low[3]);
		high.x = bf16_pair(part.high[0], part.high[1]);
		high.y = bf16_pair(part.high[2], part.high[3]);
		*(uint2 *)(void *)(x + i) = low;
		*(uint2 *)(void *)(x + half + i) = high;
	}

	/* RMSNorm */
	__device__ __forceinline__ void
	norm(struct head_part &part, const float *w, const struct normed_heads &a) const
	{
		float sum = 0;

		for (int j = 0; j < 4; j++)
			sum += part.low[j] * part.low[j] + part.high[j] * part.high[j];
#pragma unroll
		for (int bits = LANES / 2; bits; bits /= 2)
			sum += __shfl_xor_sync(ALL_LANES, sum, bits);
		float scale = 1 / sqrtf(sum / (float)a.D + a.eps);
		for (int j = 0; j < 4 && here; j++) {
			part.low[j] *= scale * (a.plus + w[i + j]);
			part.high[j] *= scale * (a.plus + w[i + a.D / 2 + j]);
		}
	}
};

/* A warp has all heads of a token, and finds its angles once. */
template <int LANES>
__global__ void
norm_and_turn(__nv_bfloat16 *x, size_t ld, struct normed_heads a)
{
	constexpr int BESIDE = WARP / LANES,
		      AT_ONCE = 2; /* heads of a warp; loads ahead */
	int t = (int)blockIdx.x * TOKENS + (int)threadIdx.y, half = a.D / 2;
	float sine[4] = {}, cosine[4] = { 1, 1, 1, 1 };
	struct head_lanes<LANES> lanes(a.D);
	struct head_part parts[AT_ONCE] = {};

	if (t >= a.T)
		return;
	x += (size_t)t * ld;
	if (a.inv) {
		int n = segment_of(a.starts, a.N, t);
		const float *inv = a.inv + (size_t)n * a.step;
		for (int j = 0; j < 4 && lanes.here; j++)
			sincosf((float)(t - a.starts[n]) * inv[lanes.i + j], &sine[j],
			    &cosine[j]);
	}
	for (int first = lanes.head; first - lanes.head < a.heads;
	     first += BESIDE * AT_ONCE) {
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			int h = first + u * BESIDE;
			if (h < a.heads)
				lanes.take(parts[u], x + h * a.D, half);
		}
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			int h = first + u * BESIDE;
			const float *w = a.w[h >= a.H];
			struct head_part &part = parts[u];
			/* all lanes take part in the sum */
			if (a.w[0] || a.w[1])
				lanes.norm(part, w, a);
			for (int j = 0; j < 4; j++) {
				float low = part.low[j], high = part.high[j];
				part.low[j] = low * cosine[j] - high * sine[j];
				part.high[j] = high * cosine[j] + low * sine[j];
			}
			if (h < a.heads)
				lanes.put(x + h * a.D, part, half);
		}
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

void
bf16_heads(__nv_bfloat16 *qk, size_t ld, const float *const w[2], float eps,
    enum nn_norm kind, const float *inv, size_t step,
    const struct nn_sequences *sequences, size_t H, size_t K, size_t D)
{
	struct normed_heads a = { { w[0], w[1] }, eps,
		kind == NN_RMSNORM_PLUS ? 1.0f : 0.0f, inv, step, sequences->starts,
		(int)sequences->N, (int)sequences->T, (int)H, (int)(H + K), (int)D };

	if (!w[0] && !inv)
		return;
	device_launch(D <= 64	 ? norm_and_turn<8>
		      : D <= 128 ? norm_and_turn<16>
				 : norm_and_turn<32>,
	    device_blocks(sequences->T, TOKENS), dim3(WARP, TOKENS), 0, qk, ld, a);
}
