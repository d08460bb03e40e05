/* Not in memory.c, which tests/guarded replaces. */
#include "base/mem.h"
#include "nn/nn.h"

void *
nn_reserve(void *memory, size_t *size, size_t count, size_t element)
{
	size_t bytes = mem_multiply(count, element, "memory");

	if (bytes <= *size)
		return memory;
	nn_free(memory, *size);
	/* a margin, so that a need that grows slowly does not allocate anew each time */
	*size = mem_add(bytes, bytes / 8, "memory");
	return nn_alloc(*size);
}
