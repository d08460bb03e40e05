#include "nn/cuda/device.h"

namespace
{

__global__ void
look_up(float *bias, struct nn_matrix table, const int32_t *buckets, size_t n, size_t H)
{
	for (size_t i = grid_thread(); i < H * n; i += grid_threads())
		bias[i] =
		    element_of(table.at, table.dtype, (size_t)buckets[i % n] * H + i / n);
}

/* totals[H, 2 longest]: the gradients of each distance, summed over sequences in order. */
__global__ void
add_sequences(float *totals, const float *dbias, struct nn_sequences sequences, size_t H)
{
	size_t longest = sequences.longest;

	for (size_t i = grid_thread(); i < H * 2 * longest; i += grid_threads()) {
		size_t h = i / (2 * longest), x = i % (2 * longest);
		float sum = 0;
		for (size_t n = 0; n < sequences.N; n++) {
			size_t start = (size_t)sequences.starts[n];
			size_t length = (size_t)sequences.starts[n + 1] - start;
			if (x + length >= longest && x < longest + length)
				sum += dbias[2 * start * H + 2 * h * length +
					     (x + length - longest)];
		}
		totals[i] = sum;
	}
}

/* A block has a head, each of its warps every n-th bucket. */
__global__ void
add_buckets(
    float *dtable, const float *totals, const int32_t *buckets, size_t n, size_t H)
{
	__shared__ int most[WARP];
	int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, last = -1;
	int warps = (int)blockDim.x / WARP;
	const float *from = totals + blockIdx.x * n;

	for (size_t x = threadIdx.x; x < n; x += blockDim.x)
		last = buckets[x] > last ? buckets[x] : last;
	last = warp_max(last);
	if (!lane)
		most[warp] = last;
	__syncthreads();
	last = warp_max(lane < warps ? most[lane] : -1);
	for (int bucket = warp; bucket <= last; bucket += warps) {
		float sum = 0;
		for (size_t x = (size_t)lane; x < n; x += WARP)
			sum += buckets[x] == bucket ? from[x] : 0;
		sum = warp_sum(sum);
		if (!lane)
			dtable[(size_t)bucket * H + blockIdx.x] += sum;
	}
}
} // namespace

void
nn_position_bias(
    float *bias, struct nn_matrix table, const int32_t *buckets, size_t longest, size_t H)
{
	device_launch(look_up, device_spread(H * 2 * longest), BLOCK, 0, bias, table,
	    buckets, 2 * longest, H);
}

void
nn_position_bias_back(float *dtable, const float *dbias, const int32_t *buckets,
    const struct nn_sequences *sequences, size_t H)
{
	size_t n = 2 * sequences->longest;
	scratch<float> totals(H * n);

	if (!H || !n)
		return;
	device_launch(add_sequences, device_spread(H * n), BLOCK, 0, totals.at, dbias,
	    *sequences, H);
	device_launch(
	    add_buckets, (unsigned)H, BLOCK, 0, dtable, totals.at, buckets, n, H);
}
