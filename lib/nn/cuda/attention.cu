#include "nn/cuda/attention_bf16.h"
#include "nn/cuda/attention_tiles.h"

namespace
{

/* Online softmax of rows g and g + 8: the greatest score, the sum of exponentials relative to it, and the weighted values. */
template <class A> struct softmax {
	typename A::sums values;
	float top[2], sum[2];

	__device__ __forceinline__
	softmax()
	{
#pragma unroll
		for (int i = 0; i < A::SIZE / 8; i++)
			values[i][0] = values[i][1] = values[i][2] = values[i][3] = 0;
		/* finite: all scores may be minus infinity */
		top[0] = top[1] = -1e30f;
		sum[0] = sum[1] = 0;
	}

	/* Milakov and Gimelshein 2018: sums are rescaled when a greater score comes.  p becomes 2^(p - top). */
	__device__ __forceinline__ void
	take(typename A::products &p, int count)
	{
		float factor[2];

#pragma unroll
		for (int r = 0; r < 2; r++) {
			float high = top[r], part = 0;
#pragma unroll
			for (int n = 0; n < A::WALK / 8; n++)
				if (8 * n < count)
					high = fmaxf(
					    high, fmaxf(p[n][2 * r], p[n][2 * r + 1]));
			high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 1));
			high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 2));
#pragma unroll
			for (int n = 0; n < A::WALK / 8; n++)
				if (8 * n < count) {
					p[n][2 * r] = exp2_quick(p[n][2 * r] - high);
					p[n][2 * r + 1] =
					    exp2_quick(p[n][2 * r + 1] - high);
					part += p[n][2 * r] + p[n][2 * r + 1];
				}
			factor[r] = exp2_quick(top[r] - high);
			sum[r] = sum[r] * factor[r] + part;
			top[r] = high;
		}
		A::scale(values, factor[0], factor[1]);
	}

	__device__ __forceinline__ void
	finish()
	{
#pragma unroll
		for (int r = 0; r < 2; r++) {
			sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], 1);
			sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], 2);
		}
		/* a query that sees no key has next to nothing */
		A::scale(values, sum[0] >= 0.5f ? 1 / sum[0] : 0,
		    sum[1] >= 0.5f ? 1 / sum[1] : 0);
	}
};

struct forward {
	float *out, *lse;
	const float *q, *k, *v;
};

/* Shared memory: the team's queries, then keys, then values. */
template <class A> struct forward_tiles {
	typename A::element *own, *keys, *values;

	__device__ __forceinline__
	forward_tiles(const struct team &team)
	{
		typename A::element *all = (typename A::element *)shared_memory();

		own = all + team.number * team.warps * ROWS * A::PITCH;
		keys = all + (A::WARPS * ROWS + team.number * team.walk) * A::PITCH;
		values = keys + A::WALK * A::PITCH;
	}
};

/* Stores the results of the warp's rows; the first row is token t. */
template <class A>
__device__ __forceinline__ void
store_rows(const struct forward &to, const struct attention &a, struct softmax<A> &rows,
    size_t t, int h, int have)
{
	int lane = threadIdx.x % WARP, g = lane / 4;

	rows.finish();
	A::store(to.out + t * a.ldo + (size_t)h * a.D, a.ldo, rows.values, have, a);
	if (!to.lse || lane % 4)
		return;
#pragma unroll
	for (int r = 0; r < 2; r++)
		if (g + 8 * r < have)
			to.lse[(t + g + 8 * r) * a.H + h] =
			    rows.top[r] * LN_2 + logf(rows.sum[r]);
}

/* The team's tile of queries of head h; a team without a head (h < 0) only waits at the barriers. */
template <class A>
__device__ __forceinline__ void
attend_head(const struct forward &x, const struct attention &a,
    const struct row_tile &tile, const struct team &team,
    const struct forward_tiles<A> &tiles, int h)
{
	int rows = team.warps * ROWS, left = tile.length - tile.first;
	int last = tile.first + (left < rows ? left : rows) - 1;
	struct key_range range = range_of(a, tile.first, last, tile.length, false);
	int keys = keys_of(a, tile.sequence, tile.length);
	size_t kv = (size_t)tile.start * a.ldkv + (size_t)(h / a.group) * a.D;
	size_t first = (size_t)tile.start + tile.first;
	struct softmax<A> mine;

	range.to = range.to < keys ? range.to : keys;

	if (h >= 0)
		load_tile<A>(tiles.own, x.q + first * a.ldq + (size_t)h * a.D, a.ldq,
		    left, rows, a, team);
	for (int key = range.from; key < range.to; key += team.walk) {
		int count = next_rows(range.to - key, team.walk);
		struct score_tile<false> scores = {
			tile.first + team.warp *ROWS, key, count, tile.length, keys
		};
		if (key > range.from)
			__syncthreads(); /* the last tiles have been read */
		if (h >= 0) {
			load_tile<A>(tiles.keys, x.k + kv + key * a.ldkv, a.ldkv,
			    range.to - key, count, a, team);
			load_tile<A>(tiles.values, x.v + kv + key * a.ldkv, a.ldkv,
			    range.to - key, count, a, team);
		}
		__syncthreads();
		if (h < 0 || !scores.any(a))
			continue;
		typename A::products p;
		A::multiply(
		    p, tiles.own + team.warp * ROWS * A::PITCH, tiles.keys, count);
		scores.score(p, a, bias_of(a, h));
		mine.take(p, count);
		A::accumulate(mine.values, p, tiles.values, count);
	}
	left -= team.warp * ROWS;
	if (h >= 0 && left > 0)
		store_rows<A>(x, a, mine, first + team.warp * ROWS, h, left);
}

template <class A>
__global__ void
__launch_bounds__(A::WARPS *WARP) attend(struct forward x, struct attention a, int each)
{
	struct row_tile tile;
	int from = (int)blockIdx.y * each, to = from + each < a.H ? from + each : a.H;

	if (!find_tile(&tile, a.starts, a.N, A::WARPS * ROWS, (int)blockIdx.x))
		return;
	struct team team = team_of<A>(tile.length);
	struct forward_tiles<A> tiles(team);
	for (int h = from; h < to; h += team.count) {
		int own = h + team.number;
		if (h > from)
			__syncthreads(); /* the last head's tiles have been read */
		attend_head<A>(x, a, tile, team, tiles, own < to ? own : -1);
	}
}

template <class A>
void
launch(
    const struct forward &x, const struct attention &a, const struct nn_attention *from)
{
	unsigned count = count_tiles(&from->sequences, A::WARPS * ROWS);
	unsigned each = heads_of_block(count, from->H);
	constexpr size_t shared =
	    (A::WARPS * ROWS + 2 * A::WALK) * A::PITCH * sizeof(typename A::element);

	static_assert(shared <= SHARED_MEMORY, "a block fits every device");

	device_launch(attend<A>, dim3(count, device_blocks(from->H, each)),
	    A::WARPS * WARP, shared, x, a, (int)each);
}
} // namespace

void
nn_attention(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *from)
{
	struct forward x = { out, lse, q, k, v };
	struct attention a = attention_of(from);

	if (from->bf16) {
		attention_rounded(out, lse, q, k, v, from);
		return;
	}
	a.vectors = a.vectors && is_aligned(q) && is_aligned(k) && is_aligned(v) &&
		    is_aligned(out);
	if (!from->sequences.T)
		return;
	/* sizes with which a multiprocessor has room for two blocks, in shared memory and registers */
	with_size(from->D, [&](auto size) {
		constexpr int SIZE = decltype(size)::value;
		constexpr int WIDE = SIZE <= 64 ? 64 : SIZE <= 128 ? 32 : 16;
		launch<f32_math<SIZE, 4, WIDE>>(x, a, from);
	});
}
