/*
 * cuda_runtime - a shim of CUDA: the part that lib/nn/cuda uses, on the processor.  Its sources, compiled as C++, compute the
 * same results on any machine.
 *
 * A kernel's blocks run one after another, each thread of a block as a fiber: __syncthreads and warp functions switch to the
 * next fiber.  Fibers run forward, backward or shuffled (MOTES_FIBERS=forward, backward, shuffled), to reveal results that depend
 * on the order of threads.  A barrier that some threads never reach ends the program.  Memory from cudaMalloc and dynamic
 * shared memory begin as NaN.  Copies and kernels are done when the call returns.
 *
 * For tests, MOTES_SHIM_DEVICE simulates a faulty device: none, old (its compute capability), driver (its driver), poolless;
 * MOTES_SHIM_MEMORY sets its memory in bytes; MOTES_SHIM_FAILS=N makes the N-th launch fail, as a wait or the next launch finds; and
 * with MOTES_SHIM_COUNT a program prints at its end the bytes and copies sent to the device, and how often the host waited.
 * Times between events shrink from call to call.
 *
 * The shim does not reveal races between writes without a barrier in one turn, bank conflicts, speed, or the rounding of tensor cores.
 */
#ifndef SHIM_CUDA_RUNTIME_H
#define SHIM_CUDA_RUNTIME_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

#define __global__
#define __device__
#define __host__
/* inline, not always_inline: gcc takes five times as long to compile kernels of one function */
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __grid_constant__

struct uint3 {
	unsigned x, y, z;
};
struct dim3 {
	unsigned x, y, z;
	dim3(unsigned columns = 1, unsigned rows = 1, unsigned layers = 1)
	    : x(columns), y(rows), z(layers)
	{
	}
};
struct alignas(8) float2 {
	float x, y;
};
struct alignas(16) float4 {
	float x, y, z, w;
};
struct alignas(8) int2 {
	int x, y;
};
struct alignas(16) int4 {
	int x, y, z, w;
};
struct alignas(8) uint2 {
	unsigned x, y;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};

static inline float2
make_float2(float x, float y)
{
	return { x, y };
}

static inline float4
make_float4(float x, float y, float z, float w)
{
	return { x, y, z, w };
}

/* The indices and sizes of the running thread. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/* fibers.cpp */
void shim_launch(dim3 grid, dim3 block, size_t shared, unsigned cluster,
    void (*run)(void *), void *context);
void shim_barrier();
int shim_barrier_count(int predicate); /* threads of the block whose predicate is true */
void shim_warp_barrier();
void *shim_shared(); /* the block's dynamic shared memory */
void *shim_shared_of(
    unsigned rank);	/* the dynamic shared memory of a block of the cluster */
unsigned shim_rank();	/* the block's number in the cluster */
unsigned shim_thread(); /* the thread's number in the cluster */
void shim_cluster_barrier();
/* waits until ready(subject, parity) */
void shim_wait(
    bool (*ready)(const void *, unsigned), const void *subject, unsigned parity);
/* `size` bytes, at most 16, of lane `from` of the warp */
void shim_exchange(void *got, const void *mine, size_t size, int from);
/* the same, at most 32, of all lanes */
void shim_gather(void *all, const void *mine, size_t size);
/* the warp's product of bf16 matrices: adds to a lane's four sums (hardware.h) */
void shim_multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
unsigned shim_ballot(int predicate);
/* the lanes of the warp whose `mine` is `wanted` */
unsigned shim_match(unsigned mine, unsigned wanted);
/* an asynchronous copy of 16 bytes, made when the thread waits for its group (hardware.h) */
void shim_copy_ahead(void *to, const void *from, bool there);
void shim_copies_close();
void shim_copies_wait(unsigned left);
[[noreturn]] void shim_die(const char *why);

static inline void
__syncthreads()
{
	shim_barrier();
}

static inline int
__syncthreads_or(int predicate)
{
	return shim_barrier_count(predicate) != 0;
}

static inline int
__syncthreads_count(int predicate)
{
	return shim_barrier_count(predicate);
}

static inline void
__syncwarp(unsigned mask = 0xffffffff)
{
	if (mask != 0xffffffff)
		shim_die("a warp's barrier of some lanes");
	shim_warp_barrier();
}

static inline int
shim_lane()
{
	return (
	    int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
		 warpSize);
}

template <class T>
static inline T
shim_shuffle(unsigned mask, T value, int from, int width)
{
	T got;
	int lane = shim_lane();

	if (mask != 0xffffffff)
		shim_die("a shuffle of some lanes");
	/* a lane whose source is outside its `width` lanes keeps its own value */
	if (from < lane / width * width || from >= lane / width * width + width)
		from = lane;
	shim_exchange(&got, &value, sizeof value, from);
	return got;
}

template <class T>
static inline T
__shfl_sync(unsigned mask, T value, int from, int width = 32)
{
	return shim_shuffle(
	    mask, value, shim_lane() / width * width + from % width, width);
}

template <class T>
static inline T
__shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
	return shim_shuffle(mask, value, shim_lane() ^ bits, width);
}

template <class T>
static inline T
__shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
	return shim_shuffle(mask, value, shim_lane() + (int)by, width);
}

template <class T>
static inline T
__shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
	return shim_shuffle(mask, value, shim_lane() - (int)by, width);
}

static inline unsigned
__ballot_sync(unsigned mask, int predicate)
{
	if (mask != 0xffffffff)
		shim_die("a ballot of some lanes");
	return shim_ballot(predicate);
}

static inline int
__any_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}

static inline int
__all_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, predicate) == 0xffffffff;
}

static inline unsigned
__match_any_sync(unsigned mask, unsigned value)
{
	if (mask != 0xffffffff)
		shim_die("a match of some lanes");
	return shim_match(value, value);
}

template <class T>
static inline T
__ldg(const T *at)
{
	return *at;
}

static inline int
atomicAdd(int *to, int value)
{
	int before = *to;
	*to += value;
	return before;
}

static inline unsigned
atomicOr(unsigned *to, unsigned value)
{
	unsigned before = *to;
	*to |= value;
	return before;
}

static inline unsigned
atomicMax(unsigned *to, unsigned value)
{
	unsigned before = *to;
	*to = value > before ? value : before;
	return before;
}

/* Device functions that C++ lacks. */
static inline float
rsqrtf(float x)
{
	return 1 / sqrtf(x);
}

static inline float
fdividef(float x, float y)
{
	return x / y;
}

static inline unsigned
__float_as_uint(float x)
{
	unsigned bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float
__uint_as_float(unsigned bits)
{
	float x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline void
__trap()
{
	shim_die("a trap");
}

static inline int
__popc(unsigned x)
{
	return __builtin_popcount(x);
}

static inline int
__ffs(int x)
{
	return __builtin_ffs(x);
}

static inline int
__dp4a(int a, int b, int c)
{
	for (int i = 0; i < 4; i++)
		c += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
	return c;
}

/* Functions of the host. */
typedef int cudaError_t;
enum {
	cudaSuccess,
	cudaErrorInvalidValue,
	cudaErrorMemoryAllocation,
	cudaErrorInsufficientDriver = 35,
	cudaErrorIllegalAddress = 700,
	cudaErrorLaunchFailure = 719
};
typedef struct shim_stream *cudaStream_t;
typedef struct shim_event *cudaEvent_t;
enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault
};
enum {
	cudaStreamNonBlocking = 1,
	cudaEventDefault = 0,
	cudaEventDisableTiming = 2,
	cudaHostAllocDefault = 0
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };
enum cudaDeviceAttr {
	cudaDevAttrMultiProcessorCount,
	cudaDevAttrMemoryPoolsSupported,
	cudaDevAttrComputeCapabilityMajor,
	cudaDevAttrComputeCapabilityMinor
};
typedef struct shim_pool *cudaMemPool_t;

struct cudaDeviceProp {
	char name[256];
	size_t totalGlobalMem, sharedMemPerBlockOptin;
	int major, minor, multiProcessorCount;
};

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension };
struct cudaLaunchAttribute {
	cudaLaunchAttributeID id;
	struct {
		uint3 clusterDim;
	} val;
};
struct cudaLaunchConfig_t {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned numAttrs;
};
enum { cudaEnableDefault };
enum cudaDriverEntryPointQueryResult {
	cudaDriverEntryPointSuccess,
	cudaDriverEntryPointSymbolNotFound
};

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
    cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(
    cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
    unsigned version, unsigned long long flags, cudaDriverEntryPointQueryResult *found);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(
    cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);

/* Sets the limit of the dynamic shared memory of a kernel, which is 48 KiB without this call. */
cudaError_t shim_allow(const void *kernel, size_t bytes);
cudaError_t shim_allowed(const void *kernel, size_t bytes, unsigned cluster);

template <class... P>
static inline cudaError_t
cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
	(void)attribute;
	return shim_allow((const void *)kernel, (size_t)value);
}

template <class... P, class... A>
static inline cudaError_t
cudaLaunchKernelEx(
    const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...arguments)
{
	struct call {
		void (*kernel)(P...);
		std::tuple<P...> arguments;
	} call = { kernel, std::tuple<P...>(arguments...) };

	unsigned cluster = config->numAttrs ? config->attrs->val.clusterDim.x : 0;
	cudaError_t error =
	    shim_allowed((const void *)kernel, config->dynamicSmemBytes, cluster);
	if (error == cudaSuccess)
		shim_launch(
		    config->gridDim, config->blockDim, config->dynamicSmemBytes,
		    cluster ? cluster : 1,
		    [](void *context) {
			    struct call *made = (struct call *)context;
			    std::apply(made->kernel, made->arguments);
		    },
		    &call);
	return error;
}

#endif
