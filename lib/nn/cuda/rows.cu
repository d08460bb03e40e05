#include "nn/cuda/row.h"
#include "nn/cuda/sort.h"

namespace
{

__global__ void
gather(float *y, const float *x, const int32_t *rows, bool whole, size_t R, size_t C)
{
	for (size_t r = lines_row(); r < R; r += lines_rows()) {
		const float *from = x + (size_t)rows[r] * C;
		for (size_t c = lines_column(); c < C; c += lines_columns())
			row_put(y + r * C, c, C, whole, row_take(from, c, C, whole));
	}
}

__global__ void
scale_rows(float *x, const float *by, bool whole, size_t R, size_t C)
{
	for (size_t r = lines_row(); r < R; r += lines_rows())
		for (size_t c = lines_column(); c < C; c += lines_columns()) {
			struct four some = row_take(x + r * C, c, C, whole);
			for (int j = 0; j < 4; j++)
				some.at[j] *= by[r];
			row_put(x + r * C, c, C, whole, some);
		}
}

__global__ void
add_row(float *y, const float *x, bool whole, size_t R, size_t C)
{
	for (size_t r = lines_row(); r < R; r += lines_rows())
		for (size_t c = lines_column(); c < C; c += lines_columns()) {
			struct four some = row_take(y + r * C, c, C, whole);
			struct four more = row_take(x, c, C, whole);
			for (int j = 0; j < 4; j++)
				some.at[j] += more.at[j];
			row_put(y + r * C, c, C, whole, some);
		}
}

template <int W, int K>
__global__ void
dot_rows(float *y, const float *a, const float *b, bool whole, size_t R, size_t columns)
{
	__shared__ float room[WARP];
	size_t r = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	size_t C = r < R ? columns : 0;
	float sum = 0;

	row_each<W, K>(C, [&](int, size_t c) {
		struct four x = row_take(a + r * C, c, C, whole);
		struct four z = row_take(b + r * C, c, C, whole);
		for (int j = 0; j < 4; j++)
			x.at[j] *= z.at[j];
		sum += four_sum(x);
	});
	sum = row_sum<W>(sum, room);
	if (r < R && threadIdx.x % W == 0)
		y[r] = sum;
}

/* Well mixed: the last step of MurmurHash3. */
__device__ __forceinline__ uint32_t
mixed(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

struct dropout {
	float *y;
	const float *x;
	size_t ldx;
	const uint64_t *keys;
	const int32_t *rows;
	uint64_t salt;
	uint32_t below;
	float by;
	bool whole;
	size_t R, C;
};

__global__ void
drop(struct dropout a)
{
	for (size_t r = lines_row(); r < a.R; r += lines_rows()) {
		uint64_t key = (a.keys[a.rows ? (size_t)a.rows[r] : r] ^ a.salt) *
			       0x9e3779b97f4a7c15;
		uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
		for (size_t c = lines_column(); c < a.C; c += lines_columns()) {
			struct four x = row_take(a.x + r * a.ldx, c, a.C, a.whole);
			for (int j = 0; j < 4; j++) {
				uint32_t drawn =
				    mixed(mixed((uint32_t)(c + j) ^ low) ^ high);
				x.at[j] = drawn < a.below ? 0 : x.at[j] * a.by;
			}
			row_put(a.y + r * a.C, c, a.C, a.whole, x);
		}
	}
}
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
nn_gather(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
	struct row_grid lines = row_grid_of(R, C);

	device_launch(gather, lines.grid, lines.block, 0, y, x, rows,
	    row_whole(y, C, C) && row_whole(x, C, C), R, C);
}

void
nn_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
	device_scatter_add(y, x, rows, R, C);
}

void
nn_scale_rows(float *x, const float *by, size_t R, size_t C)
{
	struct row_grid lines = row_grid_of(R, C);

	device_launch(
	    scale_rows, lines.grid, lines.block, 0, x, by, row_whole(x, C, C), R, C);
}

void
nn_add_row(float *y, const float *x, size_t R, size_t C)
{
	struct row_grid lines = row_grid_of(R, C);

	device_launch(add_row, lines.grid, lines.block, 0, y, x,
	    row_whole(y, C, C) && row_whole(x, C, C), R, C);
}

void
nn_dot_rows(float *y, const float *a, const float *b, size_t R, size_t C)
{
	bool whole = row_whole(a, C, C) && row_whole(b, C, C);

	row_shaped(C, [=](auto shape) {
		typedef decltype(shape) S;
		device_launch(dot_rows<S::WIDTH, S::KEPT>, device_blocks(R, S::ROWS),
		    S::THREADS, 0, y, a, b, whole, R, C);
	});
}

void
nn_dropout(float *y, const float *x, size_t ldx, const uint64_t *keys,
    const int32_t *rows, uint64_t salt, double rate, size_t R, size_t C)
{
	struct row_grid lines = row_grid_of(R, C);
	bool whole = row_whole(y, C, C) && row_whole(x, ldx, C);

	device_launch(drop, lines.grid, lines.block, 0,
	    dropout{ y, x, ldx, keys, rows, salt, (uint32_t)(rate * 4294967296.0),
		(float)(1 / (1 - rate)), whole, R, C });
}

void
nn_not_below(int32_t *starts, int32_t *columns, const float *x, const float *least,
    size_t R, size_t V)
{
	device_launch(count_columns, (unsigned)R, BLOCK, 0, starts, x, least, V);
	device_launch(sum_counts, 1, BLOCK, 0, starts, R);
	device_launch(put_columns, (unsigned)R, BLOCK, 0, columns, starts, x, least, V);
}
