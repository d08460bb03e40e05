/* weights - for fuzz targets: opens a file of weights and reads every tensor. */
#ifndef WEIGHTS_FUZZ_H
#define WEIGHTS_FUZZ_H

#include <stdlib.h>

#include "folder/safetensors.h"
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run(void *path)
{
	struct safetensors *file = safetensors_open(path);

	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *tensor = safetensors_at(file, i);
		double *values = malloc(tensor->count * sizeof *values);
		tensor_to_f64(values, tensor->data, tensor->dtype, tensor->count);
		free(values);
		if (safetensors_find(file, tensor->name) != tensor)
			abort();
	}
	safetensors_close(file);
}

static int
fuzz_weights(const char *name, const uint8_t *data, size_t size)
{
	harness_run(run, (void *)(uintptr_t)harness_file(name, data, size));
	return 0;
}

#endif
