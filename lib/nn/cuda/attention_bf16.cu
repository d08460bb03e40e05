/*
 * Attention of bf16 arrays by tensor cores (Dao 2023, FlashAttention-2).  A warp has 16 or 32 queries of one head, with their
 * scores and sums in registers; the warps of a block share tiles of keys and values, of which the next is copied while one is
 * used.  Of short sequences a block has several heads: those that share a key/value head, and several key/value heads.
 *
 * Tiles of keys begin at multiples of WALK, and WALK depends on D alone, so that a row has the same bits whichever plan its launch
 * has: keys that a query does not see add nothing.
 */
#include "nn/cuda/attention_bf16.h"
#include "nn/cuda/attention_rows.h"
#include "nn/cuda/gemm.h"

namespace
{

/* How the warps of a block divide the heads of a sequence. --------------------------- */

/*
 * `teams` key/value heads at a time; of each, `heads` of the heads that read it, each by `warps` warps.  All heads take `rounds`;
 * `parts` of them are one key/value head's.
 */
struct division {
	int warps, heads, teams, parts, rounds;
};

static __host__ __device__ __forceinline__ int
least_of(int x, int y)
{
	return x < y ? x : y;
}

/* x / y for x of at most MOST, a small number: a division takes the time of many comparisons. */
template <int MOST>
static __host__ __device__ __forceinline__ int
quotient(int x, int y)
{
	int times = 0;

	for (int i = 1; i <= MOST; i++)
		times += x >= i * y;
	return times;
}

template <class A>
static __host__ __device__ __forceinline__ struct division
division_of(int length, const struct attention &a)
{
	struct division by = { least_of((length + A::OWN - 1) / A::OWN, A::WARPS), 1, 1,
		1, a.K };
	int group = a.group, most = quotient<A::WARPS>(A::WARPS, by.warps);

	by.heads = least_of(group, most);
	if (by.heads < group) {
		by.parts = (group + by.heads - 1) / by.heads;
		by.rounds = a.K * by.parts;
	} else if (most >= 2 * group) {
		by.teams = least_of(a.K, most / group);
		by.rounds = (a.K + by.teams - 1) / by.teams;
	}
	return by;
}

/* What a warp has to do in a round. */
struct part {
	int kv, h, row; /* h < 0: nothing but to wait at barriers */
	int team, thread, threads;
	int keys; /* where the team's tiles of keys begin */
};

template <class A>
static __device__ __forceinline__ struct part
part_of(const struct division &by, const struct attention &a, const struct row_tile &tile,
    int round)
{
	struct part mine;
	int warp = threadIdx.x / WARP, all = by.warps * by.heads, member = 0;

	mine.team = quotient<A::WARPS - 1>(warp, all);
	if (by.parts > 1) {
		member = round % by.parts * by.heads;
		round /= by.parts;
	}
	int own = warp - mine.team * all, head = quotient<A::WARPS - 1>(own, by.warps);
	member += head;
	mine.kv = round * by.teams + mine.team;
	if (mine.team >= by.teams || mine.kv >= a.K)
		mine.kv = -1;
	mine.h = mine.kv >= 0 && member < a.group ? mine.kv * a.group + member : -1;
	mine.row = tile.first + (own - head * by.warps) * A::OWN;
	mine.thread = threadIdx.x % WARP + own * WARP;
	mine.threads = all * WARP;
	/* several teams have one tile each, of their sequence's length */
	mine.keys = mine.team * by.warps * A::OWN;
	return mine;
}

/* Blocks. ----------------------------------------------------------------------------- */

/* Calls f with the multiple of STEP, at most MOST, that `count` keys need, as a type. */
template <int STEP, int MOST, class F>
static __device__ __forceinline__ void
with_count(int count, F f)
{
	if constexpr (STEP < MOST)
		if (count <= MOST - STEP) {
			with_count<STEP, MOST - STEP>(count, f);
			return;
		}
	f(std::integral_constant<int, MOST>());
}

/* A round: each warp's queries of its head. */
template <class A>
static __device__ __forceinline__ void
attend_round(const struct arrays &x, const struct attention &a,
    const struct row_tile &tile, const struct part &mine)
{
	constexpr int SIZE = A::SIZE, WALK = A::WALK;
	__nv_bfloat16 *memory = (__nv_bfloat16 *)shared_memory();
	__nv_bfloat16 *keys = memory + (A::QUERIES + mine.keys) * SIZE;
	int seen = keys_of(a, tile.sequence, tile.length);
	int last = least_of(tile.first + A::WARPS * A::OWN, tile.length) - 1;
	struct key_range range = range_of(a, tile.first, last, tile.length, false);
	size_t kv = (size_t)tile.start * a.ldkv + (size_t)mine.kv * a.D;
	size_t first = (size_t)tile.start + mine.row;
	int have = mine.h < 0 ? 0 : tile.length - mine.row;
	struct queries<A> q = {
	};
	struct rows_of<A> rows;
	struct places<SIZE> places;

	range.from = range.from / WALK * WALK;
	range.to = least_of(range.to, seen);
	auto copy = [&](int key) {
		int left = range.to - key;
		int count = least_of((left + A::OWN - 1) / A::OWN * A::OWN, WALK);
		__nv_bfloat16 *to = keys + key / WALK % 2 * WALK * SIZE;
		if (left <= 0 || mine.kv < 0)
			return;
		copy_rows<A>(to, x.k + kv + key * a.ldkv, x.v - x.k, a, left, count,
		    mine.thread, mine.threads);
	};

	if (have > 0)
		q.load(memory, x.q + first * a.ldq + (size_t)mine.h * a.D, a, have);
	copy(range.from);
	copies_close();
	copy(range.from + WALK);
	copies_close();
	for (int key = range.from; key < range.to; key += WALK) {
		if (key == range.from)
			copies_wait<1>();
		else
			copies_wait<0>();
		__syncthreads();
		if (key > range.from)
			copy(key + WALK);
		copies_close();
		int count = least_of(range.to - key, WALK);
		if (a.causal)
			count = least_of(count, mine.row + A::OWN - key);
		struct score_tile<false> scores = {
			mine.row, key, count, tile.length, seen
		};
		if (have <= 0 || count <= 0 || !scores.template any<A::OWN>(a))
			continue;
		const __nv_bfloat16 *at = keys + key / WALK % 2 * WALK * SIZE;
		with_count<A::OWN, WALK>(count, [&](auto n) {
			rows.template attend<decltype(n)::value>(
			    q, places, a, scores, bias_of(a, mine.h), at, at + A::VALUES);
		});
	}
	rows.finish();
	rows.store(x, a, first, mine.h, have);
}

template <class A>
__global__ void
__launch_bounds__(A::WARPS *WARP, A::BLOCKS) attend(struct arrays x, struct attention a)
{
	struct row_tile tile;
	/* the tiles with the most keys first */
	int number = (int)(a.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x);

	if (!find_tile(&tile, a.starts, a.N, A::WARPS * A::OWN, number))
		return;
	struct division by = division_of<A>(tile.length, a);
	for (int round = (int)blockIdx.y; round < by.rounds; round += gridDim.y) {
		if (round > (int)blockIdx.y)
			__syncthreads(); /* the last round's tiles have been read */
		attend_round<A>(x, a, tile, part_of<A>(by, a, tile, round));
	}
}

template <class A>
void
launch(const struct arrays &x, const struct attention &a, const struct nn_attention *from)
{
	unsigned count = count_tiles(&from->sequences, A::WARPS * A::OWN);
	size_t mean = (from->sequences.T + from->sequences.N - 1) / from->sequences.N;
	constexpr size_t shared = A::SHARED_ROWS * A::SIZE * sizeof(__nv_bfloat16);
	struct division by = division_of<A>((int)mean, a);

	static_assert(shared <= SHARED_MEMORY, "a block fits every device");
	device_launch(attend<A>, dim3(count, by.rounds), A::WARPS * WARP, shared, x, a);
}

void
launch_fitting(const struct arrays &x, const struct nn_attention *from)
{
	struct attention a = attention_of(from);
	uintptr_t all =
	    (uintptr_t)x.out | (uintptr_t)x.q | (uintptr_t)x.k | (uintptr_t)x.v;
	bool aligned = (all | 2 * (from->D | from->ldq | from->ldkv)) % 16 == 0;
	/* a negative scale turns the order of the scores */
	bool plain = aligned && !a.bias && a.scale > 0;
	bool longer = from->sequences.T >= 256 * from->sequences.N;

	if (!from->sequences.T)
		return;
	with_size(from->D, [&](auto size) {
		constexpr int SIZE = decltype(size)::value;
		constexpr int LESS = SIZE <= 128 ? 64 : 32, SMALL = SIZE <= 64;
		if (!plain)
			launch<plan<SIZE, 1, 4, LESS, 1, false>>(x, a, from);
		else if constexpr (SIZE > 128)
			launch<plan<SIZE, 1, 4, LESS, 1, true>>(x, a, from);
		else if (longer)
			launch<plan<SIZE, 2, 4, LESS, 2, true>>(x, a, from);
		else
			launch<plan<SIZE, 1, 4, LESS, SMALL ? 5 : 3, true>>(x, a, from);
	});
}
} // namespace

void
attention_bf16(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
    const __nv_bfloat16 *v, const struct nn_attention *a)
{
	struct arrays x = { out, nullptr, q, k, v, false };

	launch_fitting(x, a);
}

void
attention_rounded(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a)
{
	size_t T = a->sequences.T, wide = a->H * a->D, narrow = a->K * a->D;
	size_t ldq = bf16_stride(wide), ldkv = bf16_stride(narrow);
	scratch<__nv_bfloat16> room(T * (ldq + 2 * ldkv));
	__nv_bfloat16 *keys = room.at + T * ldq, *values = keys + T * ldkv;
	struct arrays x = { out, lse, room.at, keys, values, true };
	struct nn_attention of = *a;

	if (!T)
		return;
	of.ldq = ldq;
	of.ldkv = ldkv;
	convert_to_bf16(room.at, q, a->ldq, T, wide);
	convert_to_bf16(keys, k, a->ldkv, T, narrow);
	convert_to_bf16(values, v, a->ldkv, T, narrow);
	launch_fitting(x, &of);
}
