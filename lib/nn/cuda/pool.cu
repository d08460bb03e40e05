#include "nn/cuda/row.h"

namespace
{

/*
 * A block has 4 WARP columns of one sequence; its warps take the tokens in turn, and their results are combined in order.
 */
constexpr int WARPS = BLOCK / WARP;

struct pooling {
	float *to; /* y, or dx */
	const float *x, *dy;
	const int32_t *starts, *skip;
	enum nn_pool kind;
	size_t ldy, C;
	bool whole;
};

/* The tokens first..last-1 are pooled. */
struct pooled {
	size_t start, first, last;
};

__device__ __forceinline__ struct pooled
pooled_of(const struct pooling &a, size_t i)
{
	size_t start = (size_t)a.starts[i], last = (size_t)a.starts[i + 1], first = start;

	if (a.skip) {
		size_t left_out = (size_t)a.skip[i];
		first = left_out < last - start ? start + left_out : last;
	}
	return { start, first, last };
}

/* The weight of token t in a pooling that is a weighted sum. */
__device__ __forceinline__ float
pool_weight(enum nn_pool kind, size_t t, struct pooled of)
{
	double count = (double)(of.last - of.first);
	double before = (double)(of.first - of.start);

	switch (kind) {
	case NN_POOL_MEAN: return (float)(1 / count);
	case NN_POOL_MEAN_SQRT: return (float)(1 / sqrt(count));
	case NN_POOL_WEIGHTED: /* 1, 2, 3, ... from the start of the sequence */
		return (float)((double)(t - of.start + 1) /
			       (count * (before + (count + 1) / 2)));
	default: return 0;
	}
}

/* The token that CLS or LAST takes; SIZE_MAX for other kinds. */
__device__ __forceinline__ size_t
pool_one(enum nn_pool kind, struct pooled of)
{
	if (of.start == of.last)
		return SIZE_MAX;
	if (kind == NN_POOL_CLS)
		return of.first < of.last ? of.first : of.start;
	return kind == NN_POOL_LAST ? of.last - 1 : SIZE_MAX;
}

__device__ __forceinline__ struct four
pool_sum(const struct pooling &a, struct pooled of, size_t c)
{
	__shared__ struct four room[WARPS][WARP];
	int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
	struct four sum = four_of(0);
	float weight = pool_weight(a.kind, of.start, of);

	for (size_t t = of.first + warp; t < of.last; t += WARPS) {
		struct four x = row_take(a.x + t * a.C, c, a.C, a.whole);
		if (a.kind == NN_POOL_WEIGHTED)
			weight = pool_weight(a.kind, t, of);
		for (int j = 0; j < 4; j++)
			sum.at[j] += weight * x.at[j];
	}
	room[warp][lane] = sum;
	__syncthreads();
	for (int other = 1; !warp && other < WARPS; other++)
		for (int j = 0; j < 4; j++)
			sum.at[j] += room[other][lane].at[j];
	return sum;
}

/* The greatest value of each column and its first token; NaN in the first token stays. */
struct greatest {
	struct four value;
	uint32_t t[4]; /* after `first` */
};

__device__ __forceinline__ struct greatest
pool_max(const struct pooling &a, struct pooled of, size_t c)
{
	__shared__ struct greatest room[WARPS][WARP];
	int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
	struct greatest best = { four_of(-INFINITY), { ~0u, ~0u, ~0u, ~0u } };

	for (size_t t = of.first + warp; t < of.last; t += WARPS) {
		struct four x = row_take(a.x + t * a.C, c, a.C, a.whole);
		for (int j = 0; j < 4; j++)
			if (t == of.first || x.at[j] > best.value.at[j]) {
				best.value.at[j] = x.at[j];
				best.t[j] = (uint32_t)(t - of.first);
			}
	}
	room[warp][lane] = best;
	__syncthreads();
	best = room[0][lane];
	for (int other = 1; other < WARPS; other++)
		for (int j = 0; j < 4; j++) {
			float value = room[other][lane].value.at[j];
			uint32_t t = room[other][lane].t[j];
			bool equal = value == best.value.at[j] && t < best.t[j];
			if (value > best.value.at[j] || equal) {
				best.value.at[j] = value;
				best.t[j] = t;
			}
		}
	return best;
}

__global__ void
__launch_bounds__(BLOCK) pool(struct pooling a)
{
	size_t i = blockIdx.x;
	size_t c = 4 * (blockIdx.y * WARP + threadIdx.x % WARP);
	struct pooled of = pooled_of(a, i);
	struct four y = four_of(0);
	size_t one = pool_one(a.kind, of);

	if (one != SIZE_MAX)
		y = row_take(a.x + one * a.C, c, a.C, a.whole);
	else if (of.first < of.last)
		y = a.kind == NN_POOL_MAX ? pool_max(a, of, c).value : pool_sum(a, of, c);
	if (threadIdx.x < WARP)
		row_put(a.to + i * a.ldy, c, a.C, a.whole, y);
}

/* The gradient of token t. */
__device__ __forceinline__ struct four
pool_gradient(const struct pooling &a, struct pooled of, size_t one,
    const struct greatest &best, struct four dy, size_t t)
{
	bool counts = t >= of.first && one == SIZE_MAX;
	float weight = counts ? pool_weight(a.kind, t, of) : 0;
	struct four dx = four_of(0);

	if (t == one)
		return dy;
	for (int j = 0; j < 4 && counts; j++)
		if (a.kind != NN_POOL_MAX)
			dx.at[j] = weight * dy.at[j];
		else if (t - of.first == best.t[j])
			dx.at[j] = dy.at[j];
	return dx;
}

__global__ void
__launch_bounds__(BLOCK) pool_gradients(struct pooling a)
{
	size_t i = blockIdx.x;
	size_t c = 4 * (blockIdx.y * WARP + threadIdx.x % WARP);
	struct pooled of = pooled_of(a, i);
	struct four dy = row_take(a.dy + i * a.ldy, c, a.C, a.whole);
	struct greatest best = {};
	size_t one = pool_one(a.kind, of);

	if (a.kind == NN_POOL_MAX && of.first < of.last)
		best = pool_max(a, of, c);
	for (size_t t = of.start + threadIdx.x / WARP; t < of.last; t += WARPS)
		row_put(a.to + t * a.C, c, a.C, a.whole,
		    pool_gradient(a, of, one, best, dy, t));
}

dim3
pool_grid(const struct nn_sequences *sequences, size_t C)
{
	return dim3((unsigned)sequences->N, device_blocks(C, 4 * WARP));
}
} // namespace

void
nn_pool(float *y, size_t ldy, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, enum nn_pool kind, size_t C)
{
	bool whole = row_whole(y, ldy, C) && row_whole(x, C, C);

	device_launch(pool, pool_grid(sequences, C), BLOCK, 0,
	    pooling{ y, x, NULL, sequences->starts, skip, kind, ldy, C, whole });
}

void
nn_pool_back(float *dx, const float *dy, size_t ldy, const float *x,
    const struct nn_sequences *sequences, const int32_t *skip, enum nn_pool kind,
    size_t C)
{
	bool whole = row_whole(dx, C, C) && row_whole(dy, ldy, C) && row_whole(x, C, C);

	device_launch(pool_gradients, pool_grid(sequences, C), BLOCK, 0,
	    pooling{ dx, x, dy, sequences->starts, skip, kind, ldy, C, whole });
}
