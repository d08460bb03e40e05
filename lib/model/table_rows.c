#include "model/table_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

/* A tensor with a number for each token, to be freed; NULL: the file has no such tensor. */
static double *
numbers(struct table_rows *rows, const struct safetensors *file, const char *name)
{
	const struct safetensor *tensor = safetensors_find(file, name);

	if (!tensor)
		return NULL;
	if (tensor->rank != 1 || tensor->count < 1 || tensor->count > 1 << 24)
		die("%s: tensor '%s' is not a list of a number for each token",
		    safetensors_name(file), name);
	if (rows->count && tensor->count != (size_t)rows->count)
		die("%s: tensor '%s' is of %zu tokens; the table has %d",
		    safetensors_name(file), name, tensor->count, rows->count);
	rows->count = (int)tensor->count;
	double *values = mem_new(tensor->count, sizeof *values);
	tensor_to_f64(values, tensor->data, tensor->dtype, tensor->count);
	return values;
}

void
table_rows_read(struct table_rows *rows, const struct safetensors *file, int table)
{
	double *row = numbers(rows, file, "mapping");
	if (!row && safetensors_find(file, "weights"))
		rows->count = table;
	double *weight = numbers(rows, file, "weights");
	size_t count = (size_t)rows->count;

	rows->row = row ? mem_new(count, sizeof *rows->row) : NULL;
	for (size_t i = 0; row && i < count; i++) {
		if (!(row[i] >= 0 && row[i] < table) || row[i] != floor(row[i]))
			die("%s: tensor 'mapping': token %zu has the row %g; there are %d",
			    safetensors_name(file), i, row[i], table);
		rows->row[i] = (int32_t)row[i];
	}
	rows->weight = weight ? mem_new(count, sizeof *rows->weight) : NULL;
	for (size_t i = 0; weight && i < count; i++) {
		rows->weight[i] = (float)weight[i];
		if (!isfinite(rows->weight[i]))
			die("%s: tensor 'weights': that of token %zu is not finite",
			    safetensors_name(file), i);
	}
	free(row);
	free(weight);
}

void
table_rows_free(struct table_rows *rows)
{
	free(rows->row);
	free(rows->weight);
}
