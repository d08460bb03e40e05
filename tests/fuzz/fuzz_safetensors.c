/* A safetensors file. */
#include "weights.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_weights("model.safetensors", data, size);
}
