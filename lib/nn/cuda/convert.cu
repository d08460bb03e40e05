#include "nn/cuda/gemm.h"

/*
 * Conversions of GEMM operands: f32 to bf16, weights to f32.  A warp has a row, a thread eight values at a time, 16 bytes of
 * bf16 or f16.
 */
namespace
{

constexpr int ROWS = BLOCK / WARP, EIGHT = 8,
	      SPAN = 4 * EIGHT * WARP /* columns of a block */;

struct alignas(16) eight_words {
	uint16_t of[EIGHT];
};

/* Columns c..c+7, zeros beyond C; `wide`: aligned to 16 bytes. */
__device__ __forceinline__ void
take_floats(float *x, const float *from, size_t c, size_t C, bool wide)
{
	if (wide && c + EIGHT <= C) {
		float4 low = *(const float4 *)(from + c);
		float4 high = *(const float4 *)(from + c + 4);
		x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
		x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
		return;
	}
	for (int i = 0; i < EIGHT; i++)
		x[i] = c + i < C ? from[c + i] : 0;
}

__device__ __forceinline__ void
put_floats(float *to, const float *x, size_t c, size_t C, bool wide)
{
	if (wide && c + EIGHT <= C) {
		*(float4 *)(to + c) = make_float4(x[0], x[1], x[2], x[3]);
		*(float4 *)(to + c + 4) = make_float4(x[4], x[5], x[6], x[7]);
		return;
	}
	for (int i = 0; i < EIGHT; i++)
		if (c + i < C)
			to[c + i] = x[i];
}

/* A thread's first column, and the step to its next. */
__device__ __forceinline__ size_t
first_column()
{
	return ((size_t)blockIdx.y * WARP + threadIdx.x) * EIGHT;
}

__device__ __forceinline__ size_t
next_column()
{
	return (size_t)gridDim.y * WARP * EIGHT;
}

__global__ void
narrow(__nv_bfloat16 *to, size_t ldto, const float *x, size_t ldx, bool wide, size_t R,
    size_t C)
{
	size_t r = (size_t)blockIdx.x * ROWS + threadIdx.y;
	float values[EIGHT];

	if (r >= R)
		return;
	for (size_t c = first_column(); c < ldto; c += next_column()) {
		union {
			struct eight_words bits;
			__nv_bfloat16 values[EIGHT];
		} some;
		take_floats(values, x + r * ldx, c, C, wide);
		for (int i = 0; i < EIGHT; i++)
			some.values[i] = __float2bfloat16_rn(values[i]);
		*(struct eight_words *)(to + r * ldto + c) = some.bits;
	}
}

template <class T> __device__ __forceinline__ float widened(T x);

template <>
__device__ __forceinline__ float
widened(__half x)
{
	return __half2float(x);
}

template <>
__device__ __forceinline__ float
widened(__nv_bfloat16 x)
{
	return __bfloat162float(x);
}

/* All rows of a matrix as one; n: its elements. */
template <class T>
__global__ void
widen(float *to, const T *from, bool wide, size_t n)
{
	float values[EIGHT];

	for (size_t i = grid_thread() * EIGHT; i < n; i += grid_threads() * EIGHT) {
		if (wide && i + EIGHT <= n) {
			struct eight_words bits = *(const struct eight_words *)(from + i);
			T some[EIGHT];
			memcpy(some, &bits, sizeof some);
			for (int j = 0; j < EIGHT; j++)
				values[j] = widened(some[j]);
		} else
			for (int j = 0; j < EIGHT; j++)
				values[j] = i + j < n ? widened(from[i + j]) : 0;
		put_floats(to, values, i, n, true);
	}
}

/* Rows of i8 and, unaligned, the scales of their groups. */
__global__ void
widen_i8(float *to, const int8_t *from, size_t row, size_t R, size_t C)
{
	size_t r = (size_t)blockIdx.x * ROWS + threadIdx.y;
	const int8_t *values = from + r * row;

	if (r >= R)
		return;
	for (size_t c = blockIdx.y * WARP + threadIdx.x; c < C; c += gridDim.y * WARP) {
		float scale;
		memcpy(
		    &scale, values + C + c / NN_QUANT_GROUP * sizeof scale, sizeof scale);
		to[r * C + c] = (float)values[c] * scale;
	}
}

dim3
grid_of(size_t R, size_t C)
{
	unsigned across = device_blocks(C, SPAN);

	return dim3(device_blocks(R, ROWS), across < 1 << 15 ? across : 1 << 15);
}
} // namespace

void
convert_to_bf16(__nv_bfloat16 *to, const float *x, size_t ldx, size_t R, size_t C)
{
	size_t ldto = bf16_stride(C);
	bool wide = (uintptr_t)x % 16 == 0 && ldx % 4 == 0;

	device_launch(
	    narrow, grid_of(R, ldto), dim3(WARP, ROWS), 0, to, ldto, x, ldx, wide, R, C);
}

void
convert_to_f32(float *to, struct nn_matrix w, size_t C, size_t o, size_t count)
{
	const char *at = (const char *)w.at + o * nn_row_size(w.dtype, C);
	bool wide = (uintptr_t)at % 16 == 0;
	size_t n = count * C;
	unsigned blocks = device_spread((n + EIGHT - 1) / EIGHT);

	switch (w.dtype) {
	case DTYPE_F16:
		device_launch(
		    widen<__half>, blocks, BLOCK, 0, to, (const __half *)at, wide, n);
		break;
	case DTYPE_BF16:
		device_launch(widen<__nv_bfloat16>, blocks, BLOCK, 0, to,
		    (const __nv_bfloat16 *)at, wide, n);
		break;
	default:
		device_launch(widen_i8, grid_of(count, C), dim3(WARP, ROWS), 0, to,
		    (const int8_t *)at, nn_row_size(DTYPE_I8, C), count, C);
		break;
	}
}
