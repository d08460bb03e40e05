#include "nn/cuda/device.h"

namespace
{

/* Counts the columns that are not below; a block has a row. */
__global__ void
count_columns(int32_t *counts, const float *x, const float *least, size_t V)
{
	__shared__ int room[WARP];
	const float *row = x + blockIdx.x * V;
	float threshold = least[blockIdx.x];
	int found = 0;

	for (size_t c = threadIdx.x; c < V; c += BLOCK)
		found += !(row[c] < threshold);
	found = block_sum(found, room);
	if (!threadIdx.x)
		counts[blockIdx.x] = found;
}

/* Exclusive prefix sum of counts[n], in place, and counts[n] the sum of all; by one block. */
__global__ void
sum_counts(int32_t *counts, size_t n)
{
	__shared__ int room[WARP];
	int all = block_prefix_sums(counts, n, room);

	if (!threadIdx.x)
		counts[n] = all;
}

__global__ void
put_columns(
    int32_t *columns, const int32_t *starts, const float *x, const float *least, size_t V)
{
	__shared__ int room[WARP];
	const float *row = x + blockIdx.x * V;
	float threshold = least[blockIdx.x];
	int at = starts[blockIdx.x], end = starts[blockIdx.x + 1];

	for (size_t from = 0; from < V && at < end; from += BLOCK) {
		size_t c = from + threadIdx.x;
		int all, mine = c < V && !(row[c] < threshold);
		int before = block_prefix_sum(mine, &all, room);
		if (mine)
			columns[at + before] = (int32_t)c;
		at += all;
	}
}
} // namespace

void
nn_not_below(int32_t *starts, int32_t *columns, const float *x, const float *least,
    size_t R, size_t V)
{
	device_launch(count_columns, (unsigned)R, BLOCK, 0, starts, x, least, V);
	device_launch(sum_counts, 1, BLOCK, 0, starts, R);
	device_launch(put_columns, (unsigned)R, BLOCK, 0, columns, starts, x, least, V);
}
