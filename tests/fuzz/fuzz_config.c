/*
 * The files that describe a model: config.json, modules.json, 1_Pooling/config.json,
 * 2_Dense/config.json and adapter_config.json, in this order, separated by bytes 0xff.
 */
#include "harness.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run(void *folder)
{
	model_layers(folder);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "config.json", "modules.json",
		"1_Pooling/config.json", "2_Dense/config.json", "adapter_config.json" };

	for (int i = 0; i < 5; i++) {
		size_t part_size = 0;
		const uint8_t *part = harness_part(data, size, i, &part_size);
		harness_file(names[i], part, part_size);
	}
	harness_run(run, (void *)(uintptr_t)harness_folder());
	return 0;
}
