/* A folder of results, of mteb or of this suite: STS12.json, model_meta.json and a registry of data sets, in this order,
 * separated by bytes 0xff. */
#include <stdlib.h>

#include "harness.h"
#include "mteb/registry.h"
#include "mteb/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run(void *tasks)
{
	struct registry *registry = registry_new(true);

	if (tasks) {
		registry_read(registry, tasks);
		/* registry_read_all reads in threads, and a thread cannot jump back here */
		for (size_t i = 0; i < registry->count; i++)
			registry_task(registry, i);
	}
	struct results *results = results_read(registry, harness_folder());
	for (size_t i = 0; i < results->count; i++)
		if (results_find(results, results->items[i].task) != &results->items[i])
			abort();
	results_free(results);
	registry_free(registry);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "STS12.json", "model_meta.json",
		"tasks.yaml" };
	const char *path = NULL;

	for (int i = 0; i < 3; i++) {
		size_t part_size = 0;
		const uint8_t *part = harness_part(data, size, i, &part_size);
		path = harness_file(names[i], part, part_size);
		path = part ? path : NULL;
	}
	harness_run(run, (void *)(uintptr_t)path);
	return 0;
}
