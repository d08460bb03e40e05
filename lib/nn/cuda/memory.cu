#include <mutex>
#include <vector>

#include "nn/cuda/device.h"

/*
 * Memory comes from the device's pool in stream order; the pool keeps what is freed.  An upload is copied to pinned memory first,
 * so that the host can reuse its own memory at once: small uploads share a stage, which is used again when the device has read all
 * of it.  A download goes to pinned memory, so that it needs no host thread.
 */
constexpr int STAGES = 4;
constexpr size_t STAGE = 4 << 20, SPACING = 256;
/* activations may take a fourth of the device's memory by default: weights, gradients and moments need the rest */
constexpr size_t SHARE = 4;

struct nn_transfer {
	void *at, *host;
	size_t bytes, room;
	cudaEvent_t done;
};

namespace
{

struct staging {
	char *at[STAGES];
	cudaEvent_t read[STAGES];
	int stage;
	size_t used;
};

struct staging stagings[STREAMS];

/* Transfers that have ended, to be used again. */
std::vector<nn_transfer *> free_transfers;
std::mutex rest;

cudaEvent_t
new_event()
{
	cudaEvent_t made;

	device_check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "an event");
	return made;
}

char *
pinned(size_t bytes)
{
	void *at;

	device_check(cudaHostAlloc(&at, bytes, cudaHostAllocDefault), "pinned memory");
	return (char *)at;
}

/* The stream's next stage, after the device has read it. */
void
next_stage(struct staging &staging)
{
	int next = (staging.stage + 1) % STAGES;

	if (staging.used)
		device_check(
		    cudaEventRecord(staging.read[staging.stage], device_stream()),
		    "an event");
	if (!staging.at[next]) {
		staging.at[next] = pinned(STAGE);
		staging.read[next] = new_event();
	} else
		device_check(cudaEventSynchronize(staging.read[next]), "a copy");
	staging.stage = next;
	staging.used = 0;
}

/* Room in a stage for *some of `bytes` bytes. */
char *
staged(struct staging &staging, size_t bytes, size_t *some)
{
	if (!staging.at[staging.stage] || staging.used == STAGE ||
	    (bytes <= STAGE && bytes > STAGE - staging.used))
		next_stage(staging);
	*some = bytes < STAGE - staging.used ? bytes : STAGE - staging.used;
	char *at = staging.at[staging.stage] + staging.used;
	staging.used += (*some + SPACING - 1) / SPACING * SPACING;
	return at;
}

nn_transfer *
free_transfer_of(size_t bytes)
{
	std::lock_guard<std::mutex> guard(rest);

	for (size_t i = 0; i < free_transfers.size(); i++)
		if (free_transfers[i]->room >= bytes) {
			nn_transfer *found = free_transfers[i];
			free_transfers.erase(free_transfers.begin() + (ptrdiff_t)i);
			return found;
		}
	return NULL;
}
} // namespace

bool
nn_device(void)
{
	return true;
}

size_t
nn_activation_bytes(void)
{
	size_t free, total;

	device_stream(); /* so that there is a device */
	device_check(cudaMemGetInfo(&free, &total), "memory of the device");
	return total / SHARE;
}

void *
device_memory(size_t bytes)
{
	void *memory = NULL;
	cudaError_t error = cudaMallocAsync(&memory, bytes ? bytes : 1, device_stream());

	if (error == cudaErrorMemoryAllocation) {
		size_t free = 0, total = 0;
		cudaMemGetInfo(&free, &total);
		die("out of memory of the device: %.1f MiB were asked for, %.1f of its %.1f GiB are free; fewer tokens at a time take less (--tokens)",
		    (double)bytes / (1 << 20), (double)free / (1 << 30),
		    (double)total / (1 << 30));
	}
	device_check(error, "memory of the device");
	return memory;
}

void *
nn_alloc(size_t bytes)
{
	void *memory = device_memory(bytes);

	device_check(cudaMemsetAsync(memory, 0, bytes ? bytes : 1, device_stream()),
	    "to clear memory");
	return memory;
}

void
nn_free(void *memory, size_t bytes)
{
	(void)bytes;
	if (memory)
		device_check(cudaFreeAsync(memory, device_stream()), "to free memory");
}

void
nn_upload(void *to, const void *host, size_t bytes)
{
	struct staging &staging = stagings[device_stream_number()];

	for (size_t done = 0, some; done < bytes; done += some) {
		char *at = staged(staging, bytes - done, &some);
		memcpy(at, (const char *)host + done, some);
		device_check(cudaMemcpyAsync((char *)to + done, at, some,
				 cudaMemcpyHostToDevice, device_stream()),
		    "a copy to the device");
	}
}

void
nn_download(void *host, const void *from, size_t bytes)
{
	if (bytes)
		device_check(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost,
				 device_stream()),
		    "a copy from the device");
	device_check(cudaStreamSynchronize(device_stream()), "to wait for the device");
}

struct nn_transfer *
nn_download_begin(void *host, const void *from, size_t bytes)
{
	nn_transfer *transfer = free_transfer_of(bytes);

	if (!transfer) {
		transfer = (nn_transfer *)mem_zero(1, sizeof *transfer);
		transfer->done = new_event();
		/* a power of two, so that few sizes serve all */
		for (transfer->room = 4096; transfer->room < bytes;)
			transfer->room *= 2;
		transfer->at = pinned(transfer->room);
	}
	transfer->host = host;
	transfer->bytes = bytes;
	if (bytes)
		device_check(cudaMemcpyAsync(transfer->at, from, bytes,
				 cudaMemcpyDeviceToHost, device_stream()),
		    "a copy from the device");
	device_check(cudaEventRecord(transfer->done, device_stream()), "an event");
	return transfer;
}

void
nn_download_end(struct nn_transfer *transfer)
{
	device_check(cudaEventSynchronize(transfer->done), "to wait for the device");
	if (transfer->bytes)
		memcpy(transfer->host, transfer->at, transfer->bytes);
	std::lock_guard<std::mutex> guard(rest);
	free_transfers.push_back(transfer);
}

const float *
nn_weights(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	const size_t block = STAGE / sizeof(float), width = dtype_size(dtype);
	float *weights = (float *)nn_alloc(mem_multiply(n, sizeof *weights, "weights"));
	float *some = (float *)mem_new(n < block ? n : block, sizeof *some);

	*copied = true;
	for (size_t i = 0; i < n; i += block) {
		size_t count = n - i < block ? n - i : block;
		tensor_to_f32(some, (const char *)host + i * width, dtype, count);
		nn_upload(weights + i, some, count * sizeof *some);
	}
	free(some);
	return weights;
}

struct nn_matrix
nn_matrix_of(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	struct nn_matrix matrix = {};

	matrix.dtype = dtype == DTYPE_F16 || dtype == DTYPE_BF16 ? dtype : DTYPE_F32;
	if (matrix.dtype == DTYPE_F32)
		matrix.at = nn_weights(host, dtype, n, copied);
	else {
		void *to = nn_alloc(n * dtype_size(dtype));
		nn_upload(to, host, n * dtype_size(dtype));
		matrix.at = to;
		*copied = true;
	}
	return matrix;
}

const void *
nn_bytes_of(const void *host, size_t bytes, size_t alignment, bool *copied)
{
	void *to = nn_alloc(bytes);

	(void)alignment;
	nn_upload(to, host, bytes);
	*copied = true;
	return to;
}
