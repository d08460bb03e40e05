/*
 * device - shared by the files of the CUDA backend; no other file includes it.
 *
 * The backend is plain CUDA C++ on CUDA's runtime and cuBLASLt; inline assembly is in hardware.h and hardware_hopper.h.  A kernel is a __global__
 * function beside the function of nn.h that launches it.  nvcc compiles the files; so does any C++ compiler with the headers of
 * tests/cuda, which run kernels on the processor.
 *
 * Each thread of the host queues its work in its own stream (device_stream); only nn_download and the other functions that
 * return a value to the host wait.  The workers of nn_parallel_for have a stream each.
 */
#ifndef NN_CUDA_DEVICE_H
#define NN_CUDA_DEVICE_H

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define _Noreturn [[noreturn]]
extern "C" {
#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
}
#undef _Noreturn

#include "nn/cuda/hardware.h"

constexpr int WARP = 32, BLOCK = 256; /* threads; BLOCK by default */
constexpr unsigned ALL_LANES = 0xffffffff;

/* Dies unless error is cudaSuccess; `what` was tried. */
void device_check(cudaError_t error, const char *what);

/* The same after a launch in `file`; `call` begins with the kernel's name.  MOTES_CUDA_SYNC=1: waits for the kernel, so that the
 * error is its own, and not of an earlier one. */
void device_launched(cudaError_t error, const char *file, const char *call);

/* The program's stream, 0, and one for each worker; the calling thread's number and stream. */
constexpr int STREAMS = 3;
int device_stream_number(void);
cudaStream_t device_stream(void);

/* Memory in stream order, not cleared; dies if there is not enough. */
void *device_memory(size_t bytes);

/* Multiprocessors of the device. */
unsigned device_size(void);

/* n / by, rounded up: a number of blocks. */
static inline unsigned
device_blocks(size_t n, size_t by)
{
	return (unsigned)((n + by - 1) / by);
}

/* Shared memory that a block may have on every device from sm_80 on, in bytes; sm_86 and sm_89 have the least. */
constexpr size_t SHARED_MEMORY = 99 << 10;

/* device_launch(kernel, grid, block, shared, argument...) launches a kernel in this thread's stream with `shared` bytes of dynamic
 * shared memory.  An empty grid launches nothing. */
#define device_launch(...) device_launch_from(__FILE__, #__VA_ARGS__, 0, __VA_ARGS__)
/* The same in clusters of so many blocks, for kernels of Hopper alone, which may have more shared memory. */
#define device_launch_clusters(blocks, ...)                                              \
	device_launch_from(__FILE__, #__VA_ARGS__, blocks, __VA_ARGS__)

template <class... P, class... A>
static inline void
device_launch_from(const char *file, const char *call, unsigned cluster,
    void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, A... arguments)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute;

	if (!grid.x || !grid.y || !grid.z)
		return;
	config.gridDim = grid;
	config.blockDim = block;
	config.dynamicSmemBytes = shared;
	config.stream = device_stream();
	if (cluster) {
		attribute.id = cudaLaunchAttributeClusterDimension;
		attribute.val.clusterDim = { cluster, 1, 1 };
		config.attrs = &attribute;
		config.numAttrs = 1;
	}
	/* more must be asked for */
	if (shared > 48 << 10)
		device_launched(
		    cudaFuncSetAttribute(
			kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
		    file, call);
	device_launched(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...),
	    file, call);
}

/* Temporary memory of a function, in stream order; not cleared. */
template <class T> struct scratch {
	T *at;

	explicit scratch(size_t count)
	    : at(count ? (T *)device_memory(count * sizeof(T)) : nullptr)
	{
	}
	~scratch()
	{
		if (at)
			device_check(cudaFreeAsync(at, device_stream()), "free memory");
	}
	scratch(const scratch &) = delete;
	scratch &operator=(const scratch &) = delete;
};

/* The thread's number in the whole grid, and how many there are: for loops over elements. */
static __device__ __forceinline__ size_t
grid_thread()
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ size_t
grid_threads()
{
	return (size_t)gridDim.x * blockDim.x;
}

/* Blocks for a loop over n elements, with BLOCK threads each: enough to fill the device. */
static inline unsigned
device_spread(size_t n)
{
	size_t most = (size_t)device_size() * 8, wanted = (n + BLOCK - 1) / BLOCK;

	return (unsigned)(wanted < most ? wanted : most);
}

/* Sum and maximum over a warp, returned to all of its lanes, in a fixed order. */
template <class T>
static __device__ __forceinline__ T
warp_sum(T x)
{
	for (int bits = WARP / 2; bits; bits /= 2)
		x += __shfl_xor_sync(ALL_LANES, x, bits);
	return x;
}

template <class T>
static __device__ __forceinline__ T
warp_max(T x)
{
	for (int bits = WARP / 2; bits; bits /= 2) {
		T other = __shfl_xor_sync(ALL_LANES, x, bits);
		x = other > x ? other : x;
	}
	return x;
}

/* Sum over a block of whole warps, returned to all of its threads; room[WARP] is shared memory. */
template <class T>
static __device__ __forceinline__ T
block_sum(T x, T *room)
{
	int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
	int warps = (int)blockDim.x / WARP;

	x = warp_sum(x);
	__syncthreads(); /* the last call's room has been read */
	if (!lane)
		room[warp] = x;
	__syncthreads();
	return warp_sum(lane < warps ? room[lane] : T(0));
}

/* Exclusive prefix sum over a block of whole warps; *all: the sum over the block; room[WARP] is shared memory. */
static __device__ __forceinline__ int
block_prefix_sum(int x, int *all, int *room)
{
	int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, sum = x, before = 0;

	for (int by = 1; by < WARP; by *= 2) {
		int other = __shfl_up_sync(ALL_LANES, sum, by);
		sum += lane >= by ? other : 0;
	}
	__syncthreads(); /* the last call's room has been read */
	if (lane == WARP - 1)
		room[warp] = sum;
	__syncthreads();
	*all = 0;
	for (int w = 0; w < (int)blockDim.x / WARP; w++) {
		before += w < warp ? room[w] : 0;
		*all += room[w];
	}
	return before + sum - x;
}

/* Exclusive prefix sum of counts[n], in place, by one block; returns the sum of all. */
static __device__ __forceinline__ int
block_prefix_sums(int32_t *counts, size_t n, int *room)
{
	int before = 0;

	for (size_t from = 0; from < n; from += blockDim.x) {
		size_t i = from + threadIdx.x;
		int all, at = block_prefix_sum(i < n ? counts[i] : 0, &all, room);
		if (i < n)
			counts[i] = before + at;
		before += all;
	}
	return before;
}

/* An element of a matrix: f32, f16, bf16, or i8 without a scale. */
static __device__ __forceinline__ float
element_of(const void *at, enum dtype dtype, size_t i)
{
	switch (dtype) {
	case DTYPE_F16: return __half2float(((const __half *)at)[i]);
	case DTYPE_BF16: return __bfloat162float(((const __nv_bfloat16 *)at)[i]);
	case DTYPE_I8: return ((const int8_t *)at)[i];
	default: return ((const float *)at)[i];
	}
}

/* The segment that contains `at`, of `count` segments that begin at starts[i]. */
template <class T, class N>
static __device__ __forceinline__ N
segment_of(const T *starts, N count, T at)
{
	N low = 0, high = count;

	while (high - low > 1) {
		N middle = low + (high - low) / 2;
		if (starts[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

#endif
