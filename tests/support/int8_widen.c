/*
 * int8_widen FOLDER TO - copy FOLDER/model.safetensors with the 8-bit tensors of FOLDER/model.int8.safetensors put back as
 * float32: there a value is a byte, and the scales of a row, one per 128 values, follow the row
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/safetensors.h"

static const float *
widen(const struct safetensor *tensor, const struct safetensor *rows)
{
	size_t R = (size_t)rows->shape[0], size = (size_t)rows->shape[1];
	size_t C = tensor->count / R;
	float *values = mem_new(tensor->count, sizeof *values), scale;

	for (size_t i = 0; i < tensor->count; i++) {
		const char *row = (const char *)rows->data + i / C * size;
		memcpy(&scale, row + C + i % C / 128 * sizeof scale, sizeof scale);
		values[i] = (float)(signed char)row[i % C] * scale;
	}
	return values;
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	char *path = mem_format("%s/model.int8.safetensors", argv[1]);
	struct safetensors *from = safetensors_open(argv[1]);
	struct safetensors *eight = safetensors_open(path);
	int count = safetensors_count(from);
	struct safetensor *all = mem_new((size_t)count, sizeof *all);

	for (int i = 0; i < count; i++) {
		all[i] = *safetensors_at(from, i);
		const struct safetensor *rows = safetensors_find(eight, all[i].name);
		if (!rows)
			continue;
		printf("%s\n", all[i].name);
		all[i].data = widen(&all[i], rows);
		all[i].dtype = DTYPE_F32;
	}
	safetensors_write(argv[2], all, count, NULL, NULL);
	return 0;
}
