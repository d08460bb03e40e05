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

/* Tokens of a sequence from which attend_long is quicker. */
constexpr int LONG = 384;

/* How the warps of a block divide the heads of a sequence. --------------------------- */

/*
 * A round: `teams` key/value heads at a time; of each, `heads` of the heads that read it, each by `warps` warps.  All heads take
 * `rounds`; `parts` of them are one key/value head's.
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
	} else if (2 * group <= most && 2 * by.warps * A::OWN <= A::WALK) {
		/* their keys share one tile */
		most = quotient<A::WALK / A::OWN>(A::WALK / A::OWN, by.warps);
		by.teams = least_of(a.K, most / group);
		by.rounds = (a.K + by.teams - 1) / by.teams;
	}
	return by;
}

/* A warp's place in that: its team, which of the team's heads, and its first row; the threads of the team. */
struct place_in {
	int team, head, row;
	unsigned thread, threads;
};

template <class A>
static __device__ __forceinline__ struct place_in
place_of(const struct division &by, const struct row_tile &tile)
{
	struct place_in mine;
	int warp = threadIdx.x / WARP, all = by.warps * by.heads;

	mine.team = quotient<A::WARPS - 1>(warp, all);
	warp -= mine.team * all;
	mine.head = quotient<A::WARPS - 1>(warp, by.warps);
	mine.row = tile.first + (warp - mine.head * by.warps) * A::OWN;
	mine.thread = threadIdx.x % WARP + warp * WARP;
	mine.threads = all * WARP;
	return mine;
}

/* A round: the first key/value heads of its teams, and which part of them. */
struct turn {
	int number, kv, part;

	__device__ __forceinline__
	turn(const struct division &by, int at)
	    : number(at), kv(at), part(0)
	{
		if (by.parts > 1) {
			kv = at / by.parts;
			part = at - kv * by.parts;
		}
		kv *= by.teams;
	}

	__device__ __forceinline__ void
	next(const struct division &by)
	{
		number++;
		if (++part == by.parts) {
			part = 0;
			kv += by.teams;
		}
	}
};

/* The key/value head of a warp's team, and the warp's head, or -1. */
static __device__ __forceinline__ int
kv_head(const struct division &by, const struct attention &a, const struct place_in &mine,
    const struct turn &turn)
{
	int kv = turn.kv + mine.team;

	return mine.team < by.teams && kv < a.K ? kv : -1;
}

static __device__ __forceinline__ int
query_head(const struct division &by, const struct attention &a,
    const struct place_in &mine, const struct turn &turn)
{
	int kv = kv_head(by, a, mine, turn), head = mine.head + turn.part * by.heads;

	return kv >= 0 && head < a.group ? kv * a.group + head : -1;
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

/* Rounds from..to-1.  Tiles of all their keys follow one another, and while one is used, the next is copied. */
template <class A>
static __device__ __forceinline__ void
attend_rounds(const struct arrays &x, const struct attention &a,
    const struct row_tile &tile, const struct division &by, int from, int to)
{
	constexpr int SIZE = A::SIZE, WALK = A::WALK;
	__nv_bfloat16 *memory = (__nv_bfloat16 *)shared_memory();
	struct place_in mine = place_of<A>(by, tile);
	/* several teams have a part of a tile each, of their sequence's length */
	__nv_bfloat16 *keys =
	    memory + (A::QUERIES + mine.team * by.warps * A::OWN) * SIZE;
	int seen = keys_of(a, tile.sequence, tile.length);
	int last = least_of(tile.first + A::WARPS * A::OWN, tile.length) - 1;
	struct key_range range = range_of(a, tile.first, last, tile.length, false);
	int have = tile.length - mine.row;
	size_t first = (size_t)tile.start + mine.row;
	struct queries<A> q(memory);
	struct rows_of<A> rows;
	struct places<SIZE> places;

	range.from = range.from / WALK * WALK;
	range.to = least_of(range.to, seen);
	if (range.to <= range.from)
		range.to = range.from + 1; /* none is seen */
	auto copy = [&](const struct turn &of, int key, int stage) {
		int kv = of.number < to ? kv_head(by, a, mine, of) : -1;
		int left = range.to - key;
		if (kv >= 0)
			copy_rows<A>(keys + stage * WALK * SIZE,
			    x.k + (size_t)(tile.start + key) * a.ldkv + (size_t)kv * a.D,
			    x.v - x.k, a, left,
			    least_of((left + A::OWN - 1) / A::OWN * A::OWN, WALK),
			    mine.thread, mine.threads);
		copies_close();
	};
	auto copy_after = [&](struct turn of, int key, int stage) {
		key += WALK;
		if (key >= range.to) {
			key = range.from;
			of.next(by);
		}
		copy(of, key, stage ^ 1);
	};
	auto fetch = [&](const struct turn &of) {
		int h = of.number < to ? query_head(by, a, mine, of) : -1;
		if (h >= 0 && have > 0)
			q.fetch(x.q + first * a.ldq + (size_t)h * a.D, a, have);
	};
	struct turn turn(by, from);

	fetch(turn);
	copy(turn, range.from, 0);
	copy_after(turn, range.from, 0);
	copies_wait<1>();
	for (int key = range.from, stage = 0; turn.number < to; stage ^= 1) {
		int h = query_head(by, a, mine, turn), count = range.to - key;
		bool begins = key == range.from, ends = count <= WALK;
		struct turn next = turn;
		next.next(by);
		__syncthreads();
		if (begins) {
			q.settle();
			rows = rows_of<A>();
			if (A::IN_REGISTERS)
				fetch(next);
		}
		if (turn.number > from || !begins)
			copy_after(turn, key, stage);
		else
			copies_close();
		if (a.causal)
			count = least_of(count, mine.row + A::OWN - key);
		struct score_tile<false> scores = {
			mine.row, key, count, tile.length, seen
		};
		if (h >= 0 && have > 0 && count > 0 && scores.template any<A::OWN>(a))
			with_count<A::OWN, WALK>(count, [&](auto n) {
				rows.template attend<decltype(n)::value>(q, places, a,
				    scores, bias_of(a, h), keys + stage * WALK * SIZE);
			});
		if (ends) {
			if (!A::IN_REGISTERS) {
				fetch(next);
				copies_close();
			}
			rows.finish();
			if (h >= 0 && have > 0)
				rows.store(x, a, first, h, have);
		}
		key = ends ? range.from : key + WALK;
		if (ends)
			turn = next;
		copies_wait<0>();
	}
}

/*
 * Blocks are numbered so that those of one sequence's heads follow one another, because a row of memory has all heads; those of long
 * sequences' tiles do, because they read the same keys.
 */
template <class A>
__global__ void
__launch_bounds__(A::WARPS *WARP, A::BLOCKS)
    attend(struct arrays x, struct attention a, int parts)
{
	struct row_tile tile;
	int tiles = (int)gridDim.x / parts, number, part;

	if constexpr (A::TILES == 1) {
		number = (int)blockIdx.x / parts;
		part = (int)blockIdx.x - number * parts;
	} else {
		part = (int)blockIdx.x / tiles;
		number = (int)blockIdx.x - part * tiles;
	}
	/* the tiles with the most keys first */
	number = a.causal ? tiles - 1 - number : number;
	if (!find_tile(&tile, a.starts, a.N, A::WARPS * A::OWN, number) ||
	    tile.length >= a.longer)
		return;
	struct division by = division_of<A>(tile.length, a);
	int each = (by.rounds + parts - 1) / parts;
	int from = part * each, to = least_of(from + each, by.rounds);
	if (from < to)
		attend_rounds<A>(x, a, tile, by, from, to);
}

/* A block takes at most `each` rounds of the mean sequence. */
template <class A>
void
launch(const struct arrays &x, const struct attention &a, const struct nn_attention *from,
    int each)
{
	unsigned count = count_tiles(&from->sequences, A::WARPS * A::OWN);
	size_t mean = (from->sequences.T + from->sequences.N - 1) / from->sequences.N;
	constexpr size_t shared = A::SHARED_ROWS * A::SIZE * sizeof(__nv_bfloat16);
	unsigned rounds = (unsigned)division_of<A>((int)mean, a).rounds;
	unsigned parts = device_blocks(rounds, each);

	static_assert(shared <= SHARED_MEMORY, "a block fits every device");
	device_launch(
	    attend<A>, count * parts, A::WARPS * WARP, shared, x, a, (int)parts);
}

template <bool WIDE>
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

	const struct nn_sequences *sequences = &from->sequences;
	if (!sequences->T)
		return;
	if (plain && sequences->longest >= LONG) {
		a.longer = LONG;
		if (!attend_long(x, a, from, WIDE))
			a.longer = INT32_MAX;
		else if (sequences->T == sequences->N * sequences->longest)
			return; /* there are no others */
	}
	with_size(from->D, [&](auto size) {
		constexpr int SIZE = decltype(size)::value;
		constexpr int LESS = SIZE <= 64 ? 64 : 32;
		if (!plain)
			launch<plan<SIZE, 1, 4, LESS, 1, false, WIDE>>(x, a, from, 1);
		else if constexpr (SIZE > 128)
			launch<plan<SIZE, 1, 4, LESS, 1, true, WIDE>>(x, a, from, 1);
		else if (longer)
			launch<plan<SIZE, 2, 4, LESS, 2, true, WIDE>>(x, a, from, 1);
		else
			launch<plan<SIZE, 1, 4, LESS, 3, true, WIDE>>(x, a, from, 2);
	});
}
} // namespace

void
attention_bf16(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
    const __nv_bfloat16 *v, const struct nn_attention *a)
{
	struct arrays x = { out, nullptr, q, k, v };

	launch_fitting<false>(x, a);
}

void
attention_rounded(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a)
{
	size_t T = a->sequences.T, wide = a->H * a->D, narrow = a->K * a->D;
	size_t ldq = bf16_stride(wide), ldkv = bf16_stride(narrow);
	scratch<__nv_bfloat16> room(T * (ldq + 2 * ldkv));
	__nv_bfloat16 *keys = room.at + T * ldq, *values = keys + T * ldkv;
	struct arrays x = { out, lse, room.at, keys, values };
	struct nn_attention of = *a;

	if (!T)
		return;
	of.ldq = ldq;
	of.ldkv = ldkv;
	convert_to_bf16(room.at, q, a->ldq, T, wide);
	convert_to_bf16(keys, k, a->ldkv, T, narrow);
	convert_to_bf16(values, v, a->ldkv, T, narrow);
	launch_fitting<true>(x, &of);
}
