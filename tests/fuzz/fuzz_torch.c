/* A file that torch.save wrote. */
#include "weights.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_weights("pytorch_model.bin", data, size);
}
