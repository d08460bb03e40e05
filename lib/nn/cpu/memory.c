#include "nn/nn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/cpu/cpu.h"

enum { PAGES = 4 << 20, HUGE_PAGE = 2 << 20, ALIGNMENT = 64 };

/* Whole huge pages: Linux aligns no others, which would cost a training step 2 %. */
static size_t
mapped(size_t bytes)
{
	return mem_add(bytes, HUGE_PAGE - 1, "memory") & ~(size_t)(HUGE_PAGE - 1);
}

void *
nn_alloc(size_t bytes)
{
	size_t rounded = mem_add(bytes, ALIGNMENT, "memory") & ~(size_t)(ALIGNMENT - 1);

	if (bytes >= PAGES) {
		void *pages = mmap(NULL, mapped(bytes), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			die("out of memory: %zu bytes were asked for", bytes);
		madvise(pages, mapped(bytes), MADV_HUGEPAGE);
		return pages;
	}
	void *memory = aligned_alloc(ALIGNMENT, rounded);
	if (!memory)
		die("out of memory: %zu bytes were asked for", bytes);
	return memset(memory, 0, rounded);
}

void
nn_free(void *memory, size_t bytes)
{
	if (memory && bytes >= PAGES)
		munmap(memory, mapped(bytes));
	else
		free(memory);
}

void
nn_upload(void *to, const void *host, size_t bytes)
{
	if (bytes)
		memcpy(to, host, bytes);
}

void
nn_download(void *host, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(host, from, bytes);
}

bool
nn_device(void)
{
	return false;
}

size_t
nn_activation_bytes(void)
{
	return 1 << 30;
}

struct nn_transfer *
nn_download_begin(void *host, const void *from, size_t bytes)
{
	nn_download(host, from, bytes);
	return NULL;
}

void
nn_download_end(struct nn_transfer *transfer)
{
	(void)transfer;
}

const float *
nn_weights(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	const size_t block = 1 << 16, width = dtype_size(dtype);

	*copied = dtype != DTYPE_F32 || (uintptr_t)host % sizeof(float) != 0;
	if (!*copied)
		return host;
	float *weights = nn_alloc(mem_multiply(n, sizeof *weights, "weights"));
#pragma omp parallel for schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i += block)
		tensor_to_f32(weights + i, (const char *)host + i * width, dtype,
		    n - i < block ? n - i : block);
	return weights;
}

struct nn_matrix
nn_matrix_of(const void *host, enum dtype dtype, size_t n, bool *copied)
{
	bool half = dtype == DTYPE_F16 || dtype == DTYPE_BF16;

	*copied = false;
	if (dtype == DTYPE_I8 || (half && (uintptr_t)host % sizeof(uint16_t) == 0))
		return (struct nn_matrix){ .at = host, .dtype = dtype };
	return (struct nn_matrix){ .at = nn_weights(host, dtype, n, copied),
		.dtype = DTYPE_F32 };
}

const void *
nn_bytes_of(const void *host, size_t bytes, size_t alignment, bool *copied)
{
	*copied = (uintptr_t)host % alignment != 0;
	return *copied ? memcpy(nn_alloc(bytes), host, bytes) : host;
}
