#include "nn/cuda/sort.h"

#include "nn/cuda/row.h"

namespace
{

/*
 * Radix sort from the lowest digit, stable: count each digit in a block's tile; prefix sums; scatter.  In a tile each warp has
 * its own part and counts its digits.
 */
constexpr int BITS = 8, DIGITS = 1 << BITS, WARPS = BLOCK / WARP, ITEMS = 8;
constexpr size_t TILE = BLOCK * ITEMS;
static_assert(DIGITS == BLOCK, "a thread for each digit");

/* So few are sorted by rank: each counts the keys before it. */
constexpr size_t FEW = 2048;
constexpr int FEW_BLOCK = 64, FEW_TILE = 1024;

__device__ __forceinline__ unsigned
lanes_before()
{
	return (1u << threadIdx.x % WARP) - 1;
}

/* The k-th key of this thread. */
__device__ __forceinline__ size_t
item_of(int k)
{
	return blockIdx.x * TILE + threadIdx.x / WARP * (WARP * ITEMS) + k * WARP +
	       threadIdx.x % WARP;
}

/* The digit of key i; DIGITS beyond the end. */
__device__ __forceinline__ unsigned
digit_of(const int32_t *keys, size_t i, size_t n, int shift)
{
	return i < n ? (unsigned)keys[i] >> shift & (DIGITS - 1) : DIGITS;
}

/* counts[digit, block] */
__global__ void
__launch_bounds__(BLOCK)
    count_digits(int32_t *counts, const int32_t *keys, size_t n, int shift)
{
	__shared__ int of[DIGITS + 1];

	of[threadIdx.x] = 0;
	__syncthreads();
	for (int k = 0; k < ITEMS; k++) {
		unsigned digit = digit_of(keys, item_of(k), n, shift);
		unsigned same = __match_any_sync(ALL_LANES, digit);
		if (!(same & lanes_before()))
			atomicAdd(&of[digit], __popc(same));
	}
	__syncthreads();
	counts[(size_t)threadIdx.x * gridDim.x + blockIdx.x] = of[threadIdx.x];
}

/* A digit's counts become exclusive prefix sums over blocks; a block for each digit. */
__global__ void
__launch_bounds__(BLOCK) sum_digits(int32_t *counts, int32_t *totals, size_t blocks)
{
	__shared__ int room[WARPS];
	int all = block_prefix_sums(counts + blockIdx.x * blocks, blocks, room);

	if (!threadIdx.x)
		totals[blockIdx.x] = all;
}

/* order NULL: 0, 1, 2, ... */
__global__ void
__launch_bounds__(BLOCK, 4)
    place_digits(int32_t *sorted, int32_t *to, const int32_t *keys, const int32_t *order,
	const int32_t *counts, const int32_t *totals, size_t n, int shift)
{
	__shared__ int room[WARPS], of[WARPS][DIGITS + 1];
	int warp = threadIdx.x / WARP, rank[ITEMS], all;

	for (int w = 0; w < WARPS; w++)
		of[w][threadIdx.x] = 0;
	__syncthreads();
	for (int k = 0; k < ITEMS; k++) {
		unsigned digit = digit_of(keys, item_of(k), n, shift);
		unsigned same = __match_any_sync(ALL_LANES, digit);
		int before = of[warp][digit];
		rank[k] = before + __popc(same & lanes_before());
		__syncwarp();
		if (!(same & lanes_before()))
			of[warp][digit] = before + __popc(same);
		__syncwarp();
	}
	/* the first position of each digit, by warp */
	int at = block_prefix_sum(totals[threadIdx.x], &all, room) +
		 counts[(size_t)threadIdx.x * gridDim.x + blockIdx.x];
	for (int w = 0; w < WARPS; w++) {
		int some = of[w][threadIdx.x];
		of[w][threadIdx.x] = at;
		at += some;
	}
	__syncthreads();
	for (int k = 0; k < ITEMS; k++) {
		size_t i = item_of(k);
		if (i >= n)
			continue;
		int place = of[warp][digit_of(keys, i, n, shift)] + rank[k];
		sorted[place] = keys[i];
		to[place] = order ? order[i] : (int32_t)i;
	}
}

__global__ void
__launch_bounds__(FEW_BLOCK)
    place_few(int32_t *order, int32_t *sorted, const int32_t *keys, int n)
{
	__shared__ int32_t tile[FEW_TILE];
	int i = (int)grid_thread(), mine = i < n ? keys[i] : 0, place = 0;

	for (int from = 0; from < n; from += FEW_TILE) {
		int some = n - from < FEW_TILE ? n - from : FEW_TILE;
		__syncthreads();
		for (int k = (int)threadIdx.x; k < some; k += FEW_BLOCK)
			tile[k] = keys[from + k];
		__syncthreads();
		for (int k = 0; k < some; k++)
			place += tile[k] < mine || (tile[k] == mine && from + k < i);
	}
	if (i < n) {
		order[place] = i;
		sorted[place] = mine;
	}
}

/* Rows of y for a group of threads, and rows of x that it reads at once. */
constexpr int SPAN = 8, AHEAD = 8;

/* Adds the rows order[j].. of x, while their key is the same, to four columns of a row of y. */
__device__ __forceinline__ void
add_run(float *y, const float *x, const int32_t *order, const int32_t *sorted, size_t j,
    size_t R, size_t c, size_t C, bool whole)
{
	int32_t key = sorted[j];
	float *row = y + (size_t)key * C;
	struct four sum = row_take(row, c, C, whole);

	for (bool more = true; more; j += AHEAD) {
		struct four some[AHEAD];
		int count = 0;
		for (int k = 0; k < AHEAD; k++) {
			more = more && j + k < R && sorted[j + k] == key;
			if (more) {
				some[k] =
				    row_take(x + (size_t)order[j + k] * C, c, C, whole);
				count = k + 1;
			}
		}
		for (int k = 0; k < AHEAD; k++)
			for (int i = 0; i < 4 && k < count; i++)
				sum.at[i] += some[k].at[i];
	}
	row_put(row, c, C, whole, sum);
}

__global__ void
__launch_bounds__(BLOCK) add_sorted(float *y, const float *x, const int32_t *order,
    const int32_t *sorted, size_t R, size_t C, bool whole)
{
	size_t first = ((size_t)blockIdx.x * blockDim.y + threadIdx.y) * SPAN;
	size_t c = 4 * ((size_t)blockIdx.y * blockDim.x + threadIdx.x);

	for (size_t j = first; j < first + SPAN && j < R && c < C; j++)
		if (!j || sorted[j] != sorted[j - 1])
			add_run(y, x, order, sorted, j, R, c, C, whole);
}
} // namespace

void
device_sort(int32_t *order, int32_t *sorted, const int32_t *keys, size_t n, size_t below)
{
	size_t blocks = (n + TILE - 1) / TILE;
	int passes = 1;

	if (n <= FEW) {
		device_launch(place_few, device_blocks(n, FEW_BLOCK), FEW_BLOCK, 0, order,
		    sorted, keys, (int)n);
		return;
	}
	while (passes < 4 && (below - 1) >> (BITS * passes))
		passes++;
	scratch<int32_t> counts(DIGITS * (blocks + 1)), spare(passes > 1 ? 2 * n : 0);
	int32_t *totals = counts.at + DIGITS * blocks;
	const int32_t *from = keys, *from_order = NULL;
	for (int pass = 0; pass < passes; pass++) {
		/* so that the last one ends where it should */
		bool last = (passes - pass) & 1;
		int32_t *to = last ? sorted : spare.at;
		int32_t *to_order = last ? order : spare.at + n;
		device_launch(count_digits, (unsigned)blocks, BLOCK, 0, counts.at, from,
		    n, BITS * pass);
		device_launch(sum_digits, DIGITS, BLOCK, 0, counts.at, totals, blocks);
		device_launch(place_digits, (unsigned)blocks, BLOCK, 0, to, to_order,
		    from, from_order, counts.at, totals, n, BITS * pass);
		from = to;
		from_order = to_order;
	}
}

void
device_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C)
{
	bool whole = row_whole(y, C, C) && row_whole(x, C, C);
	unsigned width = 1;

	if (!R || !C)
		return;
	while (width < WARP && width * 4 < C)
		width *= 2;
	scratch<int32_t> order(R), sorted(R);
	device_sort(order.at, sorted.at, rows, R, INT32_MAX);
	device_launch(add_sorted,
	    dim3(device_blocks(R, (size_t)SPAN * BLOCK / width),
		device_blocks(C, 4 * width)),
	    dim3(width, BLOCK / width), 0, y, x, order.at, sorted.at, R, C, whole);
}
