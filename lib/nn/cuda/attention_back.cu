#include "nn/cuda/attention_tiles.h"

/*
 * With p = exp(score - lse), g = dout v^T and delta = dout . out (each per query):
 * dscore = p (g - delta);  dq = dscore k, dk = dscore^T q, both scaled;  dv = p^T dout.
 * The scores are computed again: once for tiles of queries, which gives dq, and once for tiles of keys, which gives dk and dv.
 * So each sum belongs to one warp, which adds in a fixed order.
 */
namespace
{

struct backward {
	float *dq, *dk, *dv, *dbias;
	const float *dout, *lse, *q, *k, *v, *delta;
	float scale; /* without log2 e */
};

/* delta[T,H]: a warp has a row. */
__global__ void
dot_heads(float *delta, const float *dout, const float *out, size_t rows, int D)
{
	int lane = threadIdx.x % WARP;

	for (size_t r = grid_thread() / WARP; r < rows; r += grid_threads() / WARP) {
		float sum = 0;
		for (int d = lane; d < D; d += WARP)
			sum += dout[r * (size_t)D + d] * out[r * (size_t)D + d];
		sum = warp_sum(sum);
		if (!lane)
			delta[r] = sum;
	}
}

/* Shared memory of a team: its own rows of two arrays; walked rows of two arrays; then lse and delta of each walked row, or
 * dscore, [rows, walk + 1]. */
template <class A> struct backward_tiles {
	typename A::element *own[2], *walked[2];
	float *lse, *delta, *dscore;

	__device__ __forceinline__
	backward_tiles(const struct team &team)
	{
		typename A::element *all = (typename A::element *)shared_memory();
		constexpr int OWN = A::WARPS * ROWS;
		float *behind = (float *)(void *)(all + 2 * (OWN + A::WALK) * A::PITCH);

		for (int i = 0; i < 2; i++) {
			own[i] =
			    all + (i * OWN + team.number * team.warps * ROWS) * A::PITCH;
			walked[i] =
			    all +
			    (2 * OWN + i * A::WALK + team.number * team.walk) * A::PITCH;
		}
		lse = behind + team.number * team.walk;
		delta = lse + A::WALK;
		dscore = behind + team.number * team.warps * ROWS * (team.walk + 1);
	}
};

template <class A>
constexpr size_t
shared_of(bool biased)
{
	size_t columns = 2 * A::WALK, scores = A::WARPS * ROWS * (A::WALK + 1);

	return 2 * (A::WARPS * ROWS + A::WALK) * A::PITCH * sizeof(typename A::element) +
	       (biased ? scores : columns) * sizeof(float);
}

template <int COUNT>
__device__ __forceinline__ void
clear(float (&x)[COUNT][4])
{
#pragma unroll
	for (int i = 0; i < COUNT; i++)
		x[i][0] = x[i][1] = x[i][2] = x[i][3] = 0;
}

/* Infinity for a token that does not exist, so that its probabilities are 0. */
__device__ __forceinline__ float
lse_of(const struct backward &x, const struct attention &a, size_t t, int h, bool there)
{
	return there ? x.lse[t * a.H + h] * LOG2_E : INFINITY;
}

__device__ __forceinline__ float
delta_of(const struct backward &x, const struct attention &a, size_t t, int h, bool there)
{
	return there ? x.delta[t * a.H + h] : 0;
}

/* Queries: dq and dbias. ----------------------------------------------------------- */

/* Adds each diagonal of the team's dscore, row after row, to dbias of that distance; dbias is at distance 0. */
template <class A>
__device__ __forceinline__ void
add_diagonals(float *dbias, const float *dscore, const struct row_tile &tile,
    const struct team &team, int key, int count)
{
	int rows = team.warps * ROWS, pitch = team.walk + 1;
	int left = tile.length - tile.first;

	rows = rows < left ? rows : left;
	for (int x = team.thread; x < rows + count - 1; x += team.warps * WARP) {
		/* row - column */
		int ahead = x - (count - 1), distance = tile.first - key + ahead;
		int from = ahead > 0 ? ahead : 0;
		int to = rows < count + ahead ? rows : count + ahead;
		float sum = 0;
		for (int row = from; row < to; row++)
			sum += dscore[row * pitch + row - ahead];
		if (distance >= -tile.length && distance < tile.length)
			dbias[distance] += sum;
	}
}

/* p becomes dscore. */
template <class A>
__device__ __forceinline__ void
score_gradients(typename A::products &p, const typename A::products &g,
    const float (&lse)[2], const float (&delta)[2], int count)
{
#pragma unroll
	for (int n = 0; n < A::WALK / 8; n++)
		if (8 * n < count)
#pragma unroll
			for (int e = 0; e < 4; e++)
				p[n][e] = exp2_quick(p[n][e] - lse[e / 2]) *
					  (g[n][e] - delta[e / 2]);
}

template <class A>
__device__ __forceinline__ void
store_scores(float *to, int pitch, const typename A::products &p, int count)
{
	int lane = threadIdx.x % WARP;

	to += lane / 4 * pitch + lane % 4 * 2;
#pragma unroll
	for (int n = 0; n < A::WALK / 8; n++)
		if (8 * n < count)
#pragma unroll
			for (int e = 0; e < 4; e++)
				to[e / 2 * 8 * pitch + 8 * n + e % 2] = p[n][e];
}

/* The team's tile of queries of head h; a team without a head (h < 0) only waits at the barriers. */
template <class A, bool BIASED>
__device__ __forceinline__ void
query_tile(const struct backward &x, const struct attention &a,
    const struct row_tile &tile, const struct team &team,
    const struct backward_tiles<A> &tiles, int h)
{
	int rows = team.warps * ROWS, left = tile.length - tile.first;
	int last = tile.first + (left < rows ? left : rows) - 1;
	int row = tile.first + team.warp * ROWS, g = threadIdx.x % WARP / 4;
	struct key_range range = range_of(a, tile.first, last, tile.length, false);
	size_t kv = (size_t)tile.start * a.ldkv + (size_t)(h / a.group) * a.D;
	size_t first = (size_t)tile.start + tile.first, q = (size_t)h * a.D;
	typename A::sums dq;
	float lse[2], delta[2];

	clear(dq);
	if (h >= 0) {
		load_tile<A>(
		    tiles.own[0], x.q + first * a.ldq + q, a.ldq, left, rows, a, team);
		load_tile<A>(
		    tiles.own[1], x.dout + first * a.ldo + q, a.ldo, left, rows, a, team);
	}
	for (int r = 0; r < 2; r++) {
		int at = row + g + 8 * r;
		size_t t = (size_t)tile.start + at;
		lse[r] = lse_of(x, a, t, h, h >= 0 && at < tile.length);
		delta[r] = delta_of(x, a, t, h, h >= 0 && at < tile.length);
	}
	for (int key = range.from; key < range.to; key += team.walk) {
		int count = next_rows(range.to - key, team.walk);
		struct score_tile<false> scores = {
			row, key, count, tile.length, tile.length
		};
		if (key > range.from)
			__syncthreads(); /* the last tiles have been read */
		if (h >= 0) {
			load_tile<A>(tiles.walked[0], x.k + kv + key * a.ldkv, a.ldkv,
			    range.to - key, count, a, team);
			load_tile<A>(tiles.walked[1], x.v + kv + key * a.ldkv, a.ldkv,
			    range.to - key, count, a, team);
		}
		__syncthreads();
		bool any = h >= 0 && scores.any(a);
		typename A::products p, dscore;
		if (any) {
			int from = team.warp * ROWS * A::PITCH;
			A::multiply(p, tiles.own[0] + from, tiles.walked[0], count);
			A::multiply(dscore, tiles.own[1] + from, tiles.walked[1], count);
			scores.score(p, a, bias_of(a, h));
			score_gradients<A>(p, dscore, lse, delta, count);
			A::accumulate(dq, p, tiles.walked[0], count);
		} else if (BIASED)
			clear(p);
		if constexpr (BIASED) {
			int pitch = team.walk + 1;
			if (h >= 0)
				store_scores<A>(tiles.dscore + team.warp * ROWS * pitch,
				    pitch, p, count);
			__syncthreads();
			if (h >= 0)
				add_diagonals<A>(x.dbias + 2 * (size_t)tile.start * a.H +
						     ((size_t)2 * h + 1) * tile.length,
				    tiles.dscore, tile, team, key, count);
		}
	}
	left -= team.warp * ROWS;
	if (h < 0 || left <= 0)
		return;
	A::scale(dq, x.scale, x.scale);
	A::store(x.dq + (first + team.warp * ROWS) * a.ldq + q, a.ldq, dq, left, a);
}

/* BIASED: a block has all queries of its heads, so that no other block adds to the heads' dbias. */
template <class A, bool BIASED>
__global__ void
__launch_bounds__(A::WARPS *WARP)
    back_to_queries(struct backward x, struct attention a, int each)
{
	struct row_tile tile;
	int from = (int)blockIdx.y * each, to = from + each < a.H ? from + each : a.H;

	if constexpr (BIASED) {
		int start = a.starts[blockIdx.x];
		tile = { (int)blockIdx.x, start, a.starts[blockIdx.x + 1] - start, 0 };
	} else if (!find_tile(&tile, a.starts, a.N, A::WARPS * ROWS, (int)blockIdx.x))
		return;
	struct team team = team_of<A>(tile.length);
	struct backward_tiles<A> tiles(team);
	for (int h = from; h < to; h += team.count) {
		int own = h + team.number;
		own = own < to ? own : -1;
		do {
			query_tile<A, BIASED>(x, a, tile, team, tiles, own);
			__syncthreads(); /* the tiles have been read */
			tile.first += team.warps * ROWS;
		} while (BIASED && tile.first < tile.length);
		tile.first = BIASED ? 0 : tile.first - team.warps * ROWS;
	}
}

/* Keys: dk and dv. ----------------------------------------------------------------- */

/* p becomes exp(score - lse), g dscore; columns are queries. */
template <class A, bool GRADIENTS>
__device__ __forceinline__ void
score_gradients_transposed(typename A::products &p, typename A::products &g,
    const float *lse, const float *delta, int count)
{
	lse += threadIdx.x % 4 * 2;
	delta += threadIdx.x % 4 * 2;
#pragma unroll
	for (int n = 0; n < A::WALK / 8; n++)
		if (8 * n < count)
#pragma unroll
			for (int e = 0; e < 4; e++) {
				p[n][e] = exp2_quick(p[n][e] - lse[8 * n + e % 2]);
				if (GRADIENTS)
					g[n][e] =
					    p[n][e] * (g[n][e] - delta[8 * n + e % 2]);
			}
}

/* The sums of a warp's keys. */
template <class A, bool KEYS, bool VALUES> struct key_sums {
	float dk[KEYS ? A::SIZE / 8 : 1][4], dv[VALUES ? A::SIZE / 8 : 1][4];
};

/* Adds a tile of queries of head h to the sums of the warp's keys. */
template <class A, bool KEYS, bool VALUES>
__device__ __forceinline__ void
add_queries(struct key_sums<A, KEYS, VALUES> &sums, const struct attention &a,
    const struct score_tile<true> &scores, const struct team &team,
    const struct backward_tiles<A> &tiles, int h)
{
	int from = team.warp * ROWS * A::PITCH;
	typename A::products p, dscore;

	A::multiply(p, tiles.own[0] + from, tiles.walked[0], scores.count);
	scores.score(p, a, bias_of(a, h));
	if constexpr (KEYS)
		A::multiply(dscore, tiles.own[1] + from, tiles.walked[1], scores.count);
	score_gradients_transposed<A, KEYS>(
	    p, dscore, tiles.lse, tiles.delta, scores.count);
	if constexpr (VALUES)
		A::accumulate(sums.dv, p, tiles.walked[1], scores.count);
	if constexpr (KEYS)
		A::accumulate(sums.dk, dscore, tiles.walked[0], scores.count);
}

/* The team's tile of keys of key/value head `of`; of < 0: the team has none. */
template <class A, bool KEYS, bool VALUES>
__device__ __forceinline__ void
key_tile(const struct backward &x, const struct attention &a, const struct row_tile &tile,
    const struct team &team, const struct backward_tiles<A> &tiles, int of)
{
	int rows = team.warps * ROWS, left = tile.length - tile.first;
	int last = tile.first + (left < rows ? left : rows) - 1, group = a.group;
	struct key_range range = range_of(a, tile.first, last, tile.length, true);
	size_t first = (size_t)tile.start + tile.first;
	size_t kv = first * a.ldkv + (size_t)of * a.D;
	struct key_sums<A, KEYS, VALUES> sums;

	clear(sums.dk);
	clear(sums.dv);
	if (of >= 0) {
		load_tile<A>(tiles.own[0], x.k + kv, a.ldkv, left, rows, a, team);
		if (KEYS)
			load_tile<A>(tiles.own[1], x.v + kv, a.ldkv, left, rows, a, team);
	}
	for (int i = 0; i < group; i++)
		for (int query = range.from; query < range.to; query += team.walk) {
			int count = next_rows(range.to - query, team.walk);
			int h = of * group + i, there = range.to - query;
			struct score_tile<true> scores = {
				tile.first + team.warp *ROWS, query, count, tile.length,
				    tile.length
			};
			size_t t = (size_t)tile.start + query, q = (size_t)h * a.D;
			__syncthreads(); /* the last tiles have been read */
			if (of >= 0) {
				load_tile<A>(tiles.walked[0], x.q + t * a.ldq + q, a.ldq,
				    there, count, a, team);
				load_tile<A>(tiles.walked[1], x.dout + t * a.ldo + q,
				    a.ldo, there, count, a, team);
				for (int r = team.thread; r < count;
				     r += team.warps * WARP) {
					tiles.lse[r] = lse_of(x, a, t + r, h, r < there);
					if (KEYS)
						tiles.delta[r] =
						    delta_of(x, a, t + r, h, r < there);
				}
			}
			__syncthreads();
			if (of >= 0 && scores.any(a))
				add_queries<A, KEYS, VALUES>(
				    sums, a, scores, team, tiles, h);
		}
	left -= team.warp * ROWS;
	kv += (size_t)team.warp * ROWS * a.ldkv;
	if (of < 0 || left <= 0)
		return;
	if constexpr (KEYS) {
		A::scale(sums.dk, x.scale, x.scale);
		A::store(x.dk + kv, a.ldkv, sums.dk, left, a);
	}
	if constexpr (VALUES)
		A::store(x.dv + kv, a.ldkv, sums.dv, left, a);
}

template <class A, bool KEYS, bool VALUES>
__global__ void
__launch_bounds__(A::WARPS *WARP)
    back_to_keys(struct backward x, struct attention a, int each)
{
	struct row_tile tile;
	int from = (int)blockIdx.y * each, to = from + each < a.K ? from + each : a.K;

	if (!find_tile(&tile, a.starts, a.N, A::WARPS * ROWS, (int)blockIdx.x))
		return;
	struct team team = team_of<A>(tile.length);
	struct backward_tiles<A> tiles(team);
	for (int of = from; of < to; of += team.count) {
		int own = of + team.number;
		if (of > from)
			__syncthreads(); /* the last head's tiles have been read */
		key_tile<A, KEYS, VALUES>(x, a, tile, team, tiles, own < to ? own : -1);
	}
}

/* The host's side. ----------------------------------------------------------------- */

/* A without, B with dbias, for which dscore needs shared memory. */
template <class A, class B>
void
launch_queries(
    const struct backward &x, const struct attention &a, const struct nn_attention *from)
{
	unsigned count = count_tiles(&from->sequences, A::WARPS * ROWS);
	unsigned N = (unsigned)from->sequences.N;
	unsigned each = heads_of_block(x.dbias ? N : count, from->H);

	static_assert(shared_of<A>(false) <= SHARED_MEMORY, "a block fits every device");
	static_assert(shared_of<B>(true) <= SHARED_MEMORY, "a block fits every device");
	if (x.dbias)
		device_launch(back_to_queries<B, true>,
		    dim3(N, device_blocks(from->H, each)), B::WARPS * WARP,
		    shared_of<B>(true), x, a, (int)each);
	else
		device_launch(back_to_queries<A, false>,
		    dim3(count, device_blocks(from->H, each)), A::WARPS * WARP,
		    shared_of<A>(false), x, a, (int)each);
}

template <class A, bool KEYS, bool VALUES>
void
launch_keys(
    const struct backward &x, const struct attention &a, const struct nn_attention *from)
{
	unsigned count = count_tiles(&from->sequences, A::WARPS * ROWS);
	unsigned each = heads_of_block(count, from->K);

	device_launch(back_to_keys<A, KEYS, VALUES>,
	    dim3(count, device_blocks(from->K, each)), A::WARPS * WARP,
	    shared_of<A>(false), x, a, (int)each);
}

/* For large heads registers hold one of the sums dk and dv, so there are two launches. */
template <class A, class B>
void
launch(
    const struct backward &x, const struct attention &a, const struct nn_attention *from)
{
	launch_queries<A, B>(x, a, from);
	if constexpr (A::SIZE <= 128)
		launch_keys<A, true, true>(x, a, from);
	else {
		launch_keys<A, true, false>(x, a, from);
		launch_keys<A, false, true>(x, a, from);
	}
}
} // namespace

void
nn_attention_back(float *dq, float *dk, float *dv, float *dbias, const float *dout,
    const float *out, const float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *from)
{
	struct attention a = attention_of(from);
	size_t rows = from->sequences.T * from->H;
	scratch<float> delta(rows);
	struct backward x = { dq, dk, dv, dbias, dout, lse, q, k, v, delta.at,
		a.scale / LOG2_E };

	if (!rows)
		return;
	const float *const all[] = { dq, dk, dv, dout, q, k, v };
	for (const float *at : all)
		a.vectors = a.vectors && is_aligned(at);
	device_launch(dot_heads, device_spread(rows * WARP), BLOCK, 0, delta.at, dout,
	    out, rows, a.D);
	with_size(from->D, [&](auto size) {
		constexpr int SIZE = decltype(size)::value;
		constexpr int LARGE = SIZE <= 64 ? 64 : SIZE <= 128 ? 32 : 16;
		constexpr int SMALL = SIZE <= 32 ? 64 : SIZE <= 64 ? 32 : 16;
		using R = bf16_math<SIZE, 4, LARGE>;
		if (from->bf16)
			launch<R, R>(x, a, from);
		else
			launch<f32_math<SIZE, SIZE <= 128 ? 4 : 2, SMALL>,
			    f32_math<SIZE, SIZE <= 128 ? 4 : 1, SMALL>>(x, a, from);
	});
}
