#include "nn/cuda/row.h"
#include "nn/cuda/sort.h"

namespace
{

/* The best of a row's entries after the last one: greater first, of equal ones the lower column.  NaN has no rank. */
struct ranked {
	float value;
	int e; /* none: -1 */
};

__device__ __forceinline__ bool
better(struct ranked x, struct ranked y)
{
	if (x.e < 0 || y.e < 0)
		return y.e < 0 && x.e >= 0;
	return x.value > y.value || (x.value == y.value && x.e < y.e);
}

/* W threads share a token. */
template <int W>
__device__ __forceinline__ struct ranked
next_best(const float *row, int E, struct ranked last)
{
	struct ranked found = { 0, -1 };

	for (int e = threadIdx.x % W; e < E; e += W) {
		struct ranked own = { row[e], e };
		bool number = own.value == own.value;
		if (number && (last.e < 0 || better(last, own)) && better(own, found))
			found = own;
	}
	for (int bits = W / 2; bits; bits /= 2) {
		struct ranked other = { __shfl_xor_sync(ALL_LANES, found.value, bits),
			__shfl_xor_sync(ALL_LANES, found.e, bits) };
		found = better(other, found) ? other : found;
	}
	return found;
}

/*
 * The `top` greatest are those that are not worse than the top-th.  NaN is taken as well, so that `top` are always found.
 */
template <int W>
__global__ void
route(int32_t *chosen, float *weights, const float *p, bool renormalize, size_t T, int E,
    int top)
{
	size_t t = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	int lane = threadIdx.x % W, entries = t < T ? E : 0, found = 0;
	const float *row = p + t * E;
	struct ranked last = { 0, -1 };
	float sum = 0;

	for (int i = 0; i < top; i++) {
		struct ranked next = next_best<W>(row, entries, last);
		last = next.e < 0 ? last : next;
	}
	/* all threads of the warp stay together */
	for (int from = 0; from < E; from += W) {
		struct ranked own = { 0, from + lane };
		bool taken = own.e < entries;
		own.value = taken ? row[own.e] : 0;
		taken = taken &&
			(own.value != own.value || (last.e >= 0 && !better(last, own)));
		unsigned votes = __ballot_sync(ALL_LANES, taken);
		unsigned mine = votes >> (threadIdx.x % WARP - lane);
		mine &= W < WARP ? (1u << W % WARP) - 1 : ALL_LANES;
		int place = found + __popc(mine & ((1u << lane) - 1));
		if (taken && place < top) {
			chosen[t * top + place] = own.e;
			weights[t * top + place] = own.value;
		}
		found += __popc(mine);
	}
	if (!renormalize)
		return;
	__syncwarp(); /* others have written them */
	for (int i = 0; t < T && i < top; i++)
		sum += weights[t * top + i];
	__syncwarp();
	for (int i = lane; t < T && i < top; i += W)
		weights[t * top + i] /= sum;
}

template <int W>
__global__ void
route_gradients(float *dp, const float *dweights, const int32_t *chosen, const float *p,
    bool renormalize, size_t T, int E, int top)
{
	size_t t = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	const int32_t *at = chosen + t * top;
	const float *row = p + t * E, *dw = dweights + t * top;
	float sum = renormalize ? 0 : 1, along = 0;

	if (t >= T)
		return;
	for (int i = 0; renormalize && i < top; i++) {
		sum += row[at[i]];
		along += dw[i] * row[at[i]];
	}
	for (int e = threadIdx.x % W; e < E; e += W) {
		float gradient = 0;
		for (int i = 0; i < top; i++)
			if (at[i] == e)
				gradient = (dw[i] - along / sum) / sum;
		dp[t * E + e] = gradient;
	}
}

/* From slots sorted by expert: their rows, and where each expert begins. */
__global__ void
find_groups(int32_t *rows, int32_t *offsets, const int32_t *slots, const int32_t *experts,
    size_t n, int E, size_t top)
{
	for (size_t i = grid_thread(); i <= n; i += grid_threads()) {
		int before = i ? experts[i - 1] : -1, own = i < n ? experts[i] : E;
		/* experts between the two have no slots */
		for (int e = before + 1; e <= own; e++)
			offsets[e] = (int32_t)i;
		if (i < n)
			rows[i] = (int32_t)quotient((size_t)slots[i], top);
	}
}

constexpr int FEW = 8; /* experts for which a warp takes several tokens */
} // namespace

void
nn_route(int32_t *chosen, float *weights, const float *p, bool renormalize, size_t T,
    size_t E, size_t top)
{
	int W = E <= FEW ? FEW : WARP;

	device_launch(W == FEW ? route<FEW> : route<WARP>, device_blocks(T, BLOCK / W),
	    BLOCK, 0, chosen, weights, p, renormalize, T, (int)E, (int)top);
}

void
nn_route_back(float *dp, const float *dweights, const int32_t *chosen, const float *p,
    bool renormalize, size_t T, size_t E, size_t top)
{
	int W = E <= FEW ? FEW : WARP;

	device_launch(W == FEW ? route_gradients<FEW> : route_gradients<WARP>,
	    device_blocks(T, BLOCK / W), BLOCK, 0, dp, dweights, chosen, p, renormalize,
	    T, (int)E, (int)top);
}

void
nn_sort_by_expert(int32_t *rows, int32_t *slots, int32_t *offsets, const int32_t *chosen,
    size_t T, size_t E, size_t top)
{
	size_t n = T * top;
	scratch<int32_t> experts(n);

	device_sort(slots, experts.at, chosen, n, E);
	device_launch(find_groups, device_spread(n + 1), BLOCK, 0, rows, offsets, slots,
	    experts.at, n, (int)E, top);
}
