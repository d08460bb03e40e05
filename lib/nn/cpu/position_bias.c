#include "nn/nn.h"

#include "nn/cpu/cpu.h"

void
nn_position_bias(
    float *bias, struct nn_matrix table, const int32_t *buckets, size_t longest, size_t H)
{
	size_t n = 2 * longest, size = dtype_size(table.dtype);

#pragma omp parallel for schedule(static) if (nn_shared(H, n))
	for (size_t h = 0; h < H; h++)
		for (size_t x = 0; x < n; x++) {
			size_t from = (size_t)buckets[x] * H + h;
			tensor_to_f32(bias + h * n + x,
			    (const char *)table.at + from * size, table.dtype, 1);
		}
}

/* One thread sums a head, in a fixed order. */
void
nn_position_bias_back(float *dtable, const float *dbias, const int32_t *buckets,
    const struct nn_sequences *sequences, size_t H)
{
#pragma omp parallel for schedule(static) if (nn_shared(H, sequences->T))
	for (size_t h = 0; h < H; h++)
		for (size_t i = 0; i < sequences->N; i++) {
			size_t start = (size_t)sequences->starts[i];
			size_t length = (size_t)sequences->starts[i + 1] - start;
			const int32_t *bucket = buckets + (sequences->longest - length);
			const float *from = dbias + 2 * start * H + 2 * h * length;
			for (size_t x = 0; x < 2 * length; x++)
				dtable[(size_t)bucket[x] * H + h] += from[x];
		}
}
