/* CUDA's functions of the host on the processor (cuda_runtime.h): each call has finished when it returns. */
#include "cuda_runtime.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

/* The limits of the dynamic shared memory of a kernel: by default; the highest (of sm_86 and sm_89, which have the
 * least); the highest in clusters (sm_90). */
static const size_t UNASKED = 48 << 10, MOST = 99 << 10, MOST_IN_CLUSTERS = 227 << 10;

static std::map<const void *, size_t> &
asked()
{
	static std::map<const void *, size_t> kernels;

	return kernels;
}

cudaError_t
shim_allow(const void *kernel, size_t bytes)
{
	if (bytes > MOST_IN_CLUSTERS)
		return cudaErrorInvalidValue;
	asked()[kernel] = bytes;
	return cudaSuccess;
}

static std::atomic<unsigned long long> launches{ 0 };

/* cudaErrorIllegalAddress from launch number MOTES_SHIM_FAILS on. */
static cudaError_t
failed()
{
	const char *said = getenv("MOTES_SHIM_FAILS");

	return said && launches >= strtoull(said, NULL, 10) ? cudaErrorIllegalAddress
							    : cudaSuccess;
}

cudaError_t
shim_allowed(const void *kernel, size_t bytes, unsigned cluster)
{
	if (failed() != cudaSuccess)
		return failed();
	launches++;
	if (bytes > (cluster ? MOST_IN_CLUSTERS : MOST))
		return cudaErrorInvalidValue;
	return bytes <= UNASKED || (asked().count(kernel) && bytes <= asked()[kernel])
		   ? cudaSuccess
		   : cudaErrorInvalidValue;
}

/* True if MOTES_SHIM_DEVICE is `what`. */
static bool
device_is(const char *what)
{
	const char *said = getenv("MOTES_SHIM_DEVICE");

	return said && !strcmp(said, what);
}

/* The allocated blocks and their sizes. */
static struct {
	std::map<void *, size_t> blocks;
	std::mutex lock;
	size_t taken;
} memory;

static size_t
memory_there_is()
{
	const char *said = getenv("MOTES_SHIM_MEMORY");

	return said ? strtoull(said, NULL, 10) : (size_t)1 << 32;
}

/* Counts that are printed at the end with MOTES_SHIM_COUNT. */
static struct counts {
	std::atomic<unsigned long long> bytes{ 0 }, copies{ 0 }, waits{ 0 };
	~counts()
	{
		if (getenv("MOTES_SHIM_COUNT"))
			fprintf(stderr,
			    "to the device: %llu bytes, %llu copies; %llu waits\n",
			    bytes.load(), copies.load(), waits.load());
	}
} counts;

const char *
cudaGetErrorString(cudaError_t error)
{
	switch (error) {
	case cudaSuccess: return "no error";
	case cudaErrorMemoryAllocation: return "out of memory";
	case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
	default: return "invalid argument";
	}
}

cudaError_t
cudaGetLastError()
{
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int *count)
{
	*count = !device_is("none");
	return device_is("driver") ? cudaErrorInsufficientDriver : cudaSuccess;
}

cudaError_t
cudaSetDevice(int device)
{
	return device ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t
cudaGetDevice(int *device)
{
	*device = 0;
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	(void)device;
	*properties = {};
	strcpy(properties->name, "no device, but the processor in its place");
	properties->totalGlobalMem = memory_there_is();
	properties->sharedMemPerBlockOptin = MOST;
	properties->major = device_is("old") ? 7 : 9;
	properties->multiProcessorCount = 2;
	return cudaSuccess;
}

cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
	switch (attribute) {
	case cudaDevAttrMemoryPoolsSupported: *value = !device_is("poolless"); break;
	case cudaDevAttrComputeCapabilityMajor: *value = device_is("old") ? 7 : 9; break;
	case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
	default: *value = 2;
	}
	return device ? cudaErrorInvalidValue : cudaSuccess;
}

/* The memory begins as NaN, to reveal reads before writes. */
cudaError_t
cudaMallocAsync(void **at, size_t bytes, cudaStream_t stream)
{
	std::lock_guard<std::mutex> guard(memory.lock);

	(void)stream;
	if (bytes > memory_there_is() - memory.taken || posix_memalign(at, 256, bytes))
		return cudaErrorMemoryAllocation;
	memset(*at, 0xff, bytes);
	memory.blocks[*at] = bytes;
	memory.taken += bytes;
	return cudaSuccess;
}

cudaError_t
cudaFreeAsync(void *at, cudaStream_t stream)
{
	std::lock_guard<std::mutex> guard(memory.lock);
	auto block = memory.blocks.find(at);

	(void)stream;
	if (block == memory.blocks.end())
		return cudaErrorInvalidValue;
	memory.taken -= block->second;
	memory.blocks.erase(block);
	free(at);
	return cudaSuccess;
}

cudaError_t
cudaMemGetInfo(size_t *free, size_t *total)
{
	std::lock_guard<std::mutex> guard(memory.lock);

	*total = memory_there_is();
	*free = *total - memory.taken;
	return cudaSuccess;
}

cudaError_t
cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	(void)flags;
	return (*memory = malloc(bytes)) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t
cudaFreeHost(void *memory)
{
	free(memory);
	return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	if (kind == cudaMemcpyHostToDevice) {
		counts.bytes += bytes;
		counts.copies++;
	}
	memcpy(to, from, bytes);
	return cudaSuccess;
}

cudaError_t
cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
    size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)kind;
	(void)stream;
	if (width > to_pitch || width > from_pitch)
		return cudaErrorInvalidValue;
	for (size_t row = 0; row < height; row++)
		memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
		    width);
	return cudaSuccess;
}

cudaError_t
cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	(void)stream;
	memset(to, value, bytes);
	return cudaSuccess;
}

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	(void)flags;
	*stream = (cudaStream_t)&counts; /* no stream is NULL */
	return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	counts.waits++;
	return failed();
}

cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void)stream;
	(void)event;
	(void)flags;
	return cudaSuccess;
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	(void)flags;
	*event = nullptr;
	return cudaSuccess;
}

cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	(void)event;
	(void)stream;
	return cudaSuccess;
}

cudaError_t
cudaEventSynchronize(cudaEvent_t event)
{
	(void)event;
	return failed();
}

cudaError_t
cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
	static std::atomic<int> calls{ 0 };

	(void)from;
	(void)to;
	*milliseconds = 1 / (float)++calls;
	return cudaSuccess;
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
	(void)event;
	return cudaSuccess;
}

cudaError_t
cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	(void)device;
	*pool = nullptr;
	return cudaSuccess;
}

cudaError_t
cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
	(void)pool;
	(void)attribute;
	(void)value;
	return cudaSuccess;
}
