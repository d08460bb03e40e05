#include <atomic>
#include <thread>
#include <vector>

#include "nn/cuda/gemm.h"
extern "C" {
#include "nn/host/host.h"
}

namespace
{

struct {
	struct cudaDeviceProp properties;
	bool known;
} device;

constexpr int WORKERS = STREAMS - 1;
constexpr int LEAST = 8; /* compute capability, for bf16 tensor cores and cp.async */
thread_local int stream_number; /* 0: not a worker's */
cudaStream_t streams[STREAMS];
cudaEvent_t before, after[STREAMS];

/* Finds a device.  Returns NULL and sets `device`, or the reason why there is none. */
const char *
look_for_device()
{
	static char why[400];
	int count = 0, pools = 0;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error == cudaErrorInsufficientDriver)
		return "the NVIDIA driver is missing, or older than the CUDA toolkit that these programs were built with";
	if (error != cudaSuccess)
		return cudaGetErrorString(error);
	if (!count)
		return "there is none, or CUDA_VISIBLE_DEVICES hides it";
	device_check(cudaGetDeviceProperties(&device.properties, 0), "the device");
	if (device.properties.major < LEAST) {
		snprintf(why, sizeof why,
		    "%s has compute capability %d.%d, and the kernels need %d.0",
		    device.properties.name, device.properties.major,
		    device.properties.minor, LEAST);
		return why;
	}
	device_check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0),
	    "the device");
	if (!pools) {
		snprintf(why, sizeof why,
		    "%s has no memory pools; some virtual GPUs lack them",
		    device.properties.name);
		return why;
	}
	device.known = true;
	return NULL;
}

void
find_device()
{
	const char *why = look_for_device();

	if (why)
		die("no CUDA device: %s; the programs of build/cpu need none", why);

	/* the pool keeps freed memory */
	cudaMemPool_t pool;
	uint64_t all = UINT64_MAX;
	device_check(cudaDeviceGetDefaultMemPool(&pool, 0), "memory of the device");
	device_check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
	    "memory of the device");
}

bool
waits_for_each()
{
	static const char *const wanted = getenv("MOTES_CUDA_SYNC");

	return wanted && strcmp(wanted, "1") == 0;
}

/* Of the kernel's name in a call: up to the comma that is not between its template arguments. */
size_t
name_length(const char *call)
{
	size_t n = 0;

	for (int open = 0; call[n] && (open || call[n] != ','); n++)
		open += (call[n] == '<') - (call[n] == '>');
	return n;
}

cudaStream_t
new_stream()
{
	cudaStream_t made;

	device_check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "a stream");
	return made;
}

void
make_workers()
{
	static bool made;

	if (made)
		return;
	device_check(
	    cudaEventCreateWithFlags(&before, cudaEventDisableTiming), "an event");
	for (int i = 1; i < STREAMS; i++) {
		streams[i] = new_stream();
		device_check(cudaEventCreateWithFlags(&after[i], cudaEventDisableTiming),
		    "an event");
	}
	made = true;
}
} // namespace

void
device_check(cudaError_t error, const char *what)
{
	/* a kernel's error stays, and every later call returns it */
	bool stays = error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchFailure;

	if (error != cudaSuccess)
		die("the CUDA device: %s: %s%s", what, cudaGetErrorString(error),
		    stays && !waits_for_each()
			? ", there or in a kernel before; MOTES_CUDA_SYNC=1 tells which"
			: "");
}

void
device_launched(cudaError_t error, const char *file, const char *call)
{
	char what[200];
	bool enclosed = *call == '('; /* a template with several arguments */

	if (error == cudaSuccess && waits_for_each())
		error = cudaStreamSynchronize(device_stream());
	if (error == cudaSuccess)
		return;
	snprintf(what, sizeof what, "%.*s of %s", (int)name_length(call) - 2 * enclosed,
	    call + enclosed, file);
	device_check(error, what);
}

cudaStream_t
device_stream(void)
{
	if (!streams[0]) {
		find_device();
		streams[0] = new_stream();
	}
	return streams[stream_number];
}

int
device_stream_number(void)
{
	return stream_number;
}

unsigned
device_size(void)
{
	return (unsigned)device.properties.multiProcessorCount;
}

void
nn_start(int threads, char **argv)
{
	host_start(threads, argv);
}

const char *
nn_about(void)
{
	static char text[600];
	const char *why = device.known ? NULL : look_for_device();

	if (why)
		snprintf(text, sizeof text, "cuda, no device: %s%s", why, host_about());
	else
		snprintf(text, sizeof text,
		    "cuda, %s, compute capability %d.%d, %.0f GiB, products of floats%s, int8 and bf16 by cuBLASLt%s",
		    device.properties.name, device.properties.major,
		    device.properties.minor,
		    (double)device.properties.totalGlobalMem / (1 << 30),
		    gemm_tf32() ? " rounded to TF32" : "", host_about());
	return text;
}

/* While the host reads one worker's results and prepares its next batch, the device computes the other's. */
size_t
nn_workers(void)
{
	return WORKERS;
}

size_t
nn_use_threads(size_t threads)
{
	(void)threads;
	return WORKERS;
}

/* Rows of GEMM tiles, 128 each, of which every multiprocessor has as many: with one row more, all but one would wait for another
 * tile.  With many more, activations leave the L2 cache between kernels. */
size_t
nn_worker_tokens(enum dtype kind)
{
	(void)kind;
	device_stream(); /* so that there is a device */
	return (size_t)device_size() * 128;
}

/* Enough to fill the device; more would only take memory. */
size_t
nn_chunk_rows(void)
{
	return 1 << 13;
}

void
nn_parallel_for(
    size_t count, void (*job)(void *context, size_t worker, size_t i), void *context)
{
	std::vector<std::thread> threads;
	std::atomic<size_t> next{ 0 };
	cudaStream_t mine = device_stream();

	if (count < 2) {
		if (count)
			job(context, 0, 0);
		return;
	}
	make_workers();
	device_check(cudaEventRecord(before, mine), "an event");
	for (int worker = 1; worker < STREAMS; worker++)
		threads.emplace_back([=, &next] {
			stream_number = worker;
			device_check(cudaStreamWaitEvent(streams[stream_number], before),
			    "an event");
			for (size_t i; (i = next++) < count;)
				job(context, (size_t)worker - 1, i);
			device_check(
			    cudaEventRecord(after[stream_number], streams[stream_number]),
			    "an event");
		});
	for (int worker = 1; worker < STREAMS; worker++) {
		threads[(size_t)worker - 1].join();
		device_check(cudaStreamWaitEvent(mine, after[worker]), "an event");
	}
}
