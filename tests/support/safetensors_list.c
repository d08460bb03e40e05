/*
 * safetensors_list PATH [NAME]... - name, dtype, shape and sum of all tensors, or of those named
 * safetensors_list --copy PATH TO - read the tensors and write them to TO
 * safetensors_list --fingerprint PATH
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/fingerprint.h"
#include "folder/safetensors.h"

static void
print(const struct safetensor *tensor)
{
	double sum = 0;

	printf("%s\t%s\t", tensor->name, dtype_name(tensor->dtype));
	for (int i = 0; i < tensor->rank; i++)
		printf("%s%lld", i ? "," : "", (long long)tensor->shape[i]);
	for (size_t i = 0; i < tensor->count; i++) {
		double value;
		tensor_to_f64(&value,
		    (const char *)tensor->data + i * dtype_size(tensor->dtype),
		    tensor->dtype, 1);
		sum += value;
	}
	printf("\t%.9g\n", sum);
}

static void
copy(const struct safetensors *file, const char *to)
{
	int count = safetensors_count(file);
	struct safetensor *tensors = mem_new((size_t)count, sizeof *tensors);

	for (int i = 0; i < count; i++)
		tensors[i] = *safetensors_at(file, i);
	safetensors_write(to, tensors, count, "note", "copied");
	free(tensors);
}

int
main(int argc, char **argv)
{
	static const struct cli cli = { .name = "safetensors_list", NULL };

	cli_start(&cli, argc, argv);
	if (argc < 2)
		return 2;
	bool copies = !strcmp(argv[1], "--copy") && argc == 4;
	bool hashes = !strcmp(argv[1], "--fingerprint") && argc == 3;
	struct safetensors *file = safetensors_open(argv[1 + (copies || hashes)]);
	if (copies)
		copy(file, argv[3]);
	else if (hashes)
		printf("%016llx\n", (unsigned long long)fingerprint_quick(file, false));
	else if (argc == 2)
		for (int i = 0; i < safetensors_count(file); i++)
			print(safetensors_at(file, i));
	else
		for (int i = 2; i < argc; i++) {
			const struct safetensor *tensor = safetensors_find(file, argv[i]);
			if (!tensor)
				die("%s: no tensor '%s'", safetensors_name(file),
				    argv[i]);
			print(tensor);
		}
	safetensors_close(file);
	return 0;
}
