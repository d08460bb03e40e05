/*
 * tensor_sums DIR - name and hash of every tensor of a model folder, a line each
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "folder/safetensors.h"

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	struct safetensors *file = safetensors_open(argv[1]);

	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *t = safetensors_at(file, i);
		printf("%s\t%016" PRIx64 "\n", t->name,
		    rng_hash(0, t->data, t->count * dtype_size(t->dtype)));
	}
	safetensors_close(file);
	return 0;
}
