#include "nn/cuda/row.h"

namespace
{

template <int W, int K>
__global__ void
__launch_bounds__(W > BLOCK ? W : BLOCK)
    softmax_rows(float *y, const float *x, bool whole, size_t R, size_t columns)
{
	__shared__ float room[WARP];
	size_t r = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	size_t V = r < R ? columns : 0, at = r * V;
	struct row_kept<K> kept;
	float top = -INFINITY, sum = 0;
	auto read = [&](size_t v) { return row_take(x + at, v, V, whole, -INFINITY); };
	auto power = [&](struct four p) {
		for (int j = 0; j < 4; j++)
			p.at[j] = expf(p.at[j] - top);
		return p;
	};

	row_each<W, K>(V, [&](int k, size_t v) {
		struct four p = read(v);
		kept.keep(k, p);
		for (int j = 0; j < 4; j++)
			top = row_greater(top, p.at[j]);
	});
	top = row_max<W>(top, room);
	row_each<W, K>(V, [&](int k, size_t v) {
		struct four p = power(kept.take(k, [&] { return read(v); }));
		kept.keep(k, p);
		sum += four_sum(p);
	});
	sum = row_sum<W>(sum, room);
	row_each<W, K>(V, [&](int k, size_t v) {
		struct four p = kept.take(k, [&] { return power(read(v)); });
		for (int j = 0; j < 4; j++)
			p.at[j] /= sum;
		row_put(y + at, v, V, whole, p);
	});
}

template <int W, int K>
__global__ void
__launch_bounds__(W > BLOCK ? W : BLOCK) softmax_gradients(
    float *dx, const float *dy, const float *y, bool whole, size_t R, size_t columns)
{
	__shared__ float room[WARP];
	size_t r = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	size_t V = r < R ? columns : 0, at = r * V;
	struct row_kept<K> gs, ps;
	float along = 0;

	row_each<W, K>(V, [&](int k, size_t v) {
		struct four g = row_take(dy + at, v, V, whole), product;
		struct four p = row_take(y + at, v, V, whole);
		gs.keep(k, g);
		ps.keep(k, p);
		for (int j = 0; j < 4; j++)
			product.at[j] = g.at[j] * p.at[j];
		along += four_sum(product);
	});
	along = row_sum<W>(along, room);
	row_each<W, K>(V, [&](int k, size_t v) {
		struct four g =
		    gs.take(k, [&] { return row_take(dy + at, v, V, whole); });
		struct four p = ps.take(k, [&] { return row_take(y + at, v, V, whole); });
		for (int j = 0; j < 4; j++)
			p.at[j] *= g.at[j] - along;
		row_put(dx + at, v, V, whole, p);
	});
}

/*
 * Cross-entropy.  A block has a part of a row in its registers, PER fours a thread.  For longer rows the parts' greatest logits
 * and sums go to memory; then each block combines those of all parts, in order, and writes its part's gradients.
 */
constexpr int PER = 4;
constexpr size_t PART = 4 * PER * BLOCK;

struct entropy {
	float *logits;
	const int32_t *targets;
	const uint8_t *mask;
	float scale;
	size_t R, V, parts;
	bool whole;
	/* of all parts */
	float *tops;
	double *sums, *equals;
	/* of all rows */
	float *own;
	double *losses, *hits;
};

struct row_part {
	struct four at[PER];
	unsigned taken[PER]; /* bit j: entry j is not masked */
	size_t row, from;
};

/* Bits of the entries v..v+3 that are not masked. */
__device__ __forceinline__ unsigned
taken_of(const struct entropy &a, const uint8_t *mask, size_t v)
{
	unsigned bits = 0, four = 0;

	if (!mask)
		return v >= a.V ? 0 : a.V - v < 4 ? (1u << (a.V - v)) - 1 : 15;
	if (a.whole && v < a.V) {
		four = *(const unsigned *)(const void *)(mask + v);
		for (int j = 0; j < 4; j++)
			bits |= (unsigned)((four >> 8 * j & 0xff) != 0) << j;
		return bits;
	}
	for (int j = 0; j < 4; j++)
		bits |= (unsigned)(v + j < a.V && mask[v + j]) << j;
	return bits;
}

/* If all entries are -inf, their exponentials are 0 with any base. */
__device__ __forceinline__ float
base_of(float top)
{
	return top == -INFINITY ? 0 : top;
}

/* Loads the block's part. */
__device__ __forceinline__ void
take_part(struct row_part &p, const struct entropy &a)
{
	p.row = blockIdx.x / a.parts;
	p.from = blockIdx.x % a.parts * PART + 4 * threadIdx.x;
	const float *row = a.logits + p.row * a.V;
	const uint8_t *mask = a.mask ? a.mask + p.row * a.V : NULL;

	for (int k = 0; k < PER; k++) {
		size_t v = p.from + 4 * k * blockDim.x;
		p.at[k] = row_take(row, v, a.V, a.whole);
		p.taken[k] = taken_of(a, mask, v);
	}
}

/* The part's greatest logit and the sum of e^(logit - greatest), for all threads. */
__device__ __forceinline__ void
sum_part(const struct row_part &p, float *top, double *sum, float *room, double *sums)
{
	float greatest = -INFINITY, base;
	double mine = 0;

	for (int k = 0; k < PER; k++)
		for (int j = 0; j < 4; j++)
			if (p.taken[k] >> j & 1)
				greatest = row_greater(greatest, p.at[k].at[j]);
	*top = row_max<2 * WARP>(greatest, room);
	base = base_of(*top);
	for (int k = 0; k < PER; k++)
		for (int j = 0; j < 4; j++)
			if (p.taken[k] >> j & 1)
				mine += (double)expf(p.at[k].at[j] - base);
	*sum = block_sum(mine, sums);
}

/* Counts the part's logits equal to x, if x is the target's; for all threads. */
__device__ __forceinline__ double
count_equal(const struct row_part &p, float x, float own, double *sums)
{
	double mine = 0;

	if (own < x || x != x)
		return 0;
	for (int k = 0; k < PER; k++)
		for (int j = 0; j < 4; j++)
			mine += p.taken[k] >> j & 1 && p.at[k].at[j] == x;
	return block_sum(mine, sums);
}

/* Writes the part's gradients, from the row's greatest logit `top`, which `equal` logits have, and its sum; and the row's loss. */
__device__ __forceinline__ void
put_part(const struct row_part &p, const struct entropy &a, float own, float top,
    double sum, double equal)
{
	float *row = a.logits + p.row * a.V;
	float factor = (float)((double)a.scale / sum), base = base_of(top);
	size_t target = (size_t)a.targets[p.row];

	for (int k = 0; k < PER; k++) {
		size_t v = p.from + 4 * k * blockDim.x;
		struct four d;
		for (int j = 0; j < 4; j++) {
			d.at[j] =
			    p.taken[k] >> j & 1 ? expf(p.at[k].at[j] - base) * factor : 0;
			if (v + j == target)
				d.at[j] -= a.scale;
		}
		row_put(row, v, a.V, a.whole, d);
	}
	if (!p.from) {
		a.losses[p.row] = log(sum) + (double)top - (double)own;
		a.hits[p.row] = own >= top ? 1 / equal : 0;
	}
}

/* Rows of one part. */
__global__ void
__launch_bounds__(BLOCK) entropy_rows(struct entropy a)
{
	__shared__ float room[WARP];
	__shared__ double sums[WARP];
	struct row_part p;
	float top;
	double sum;

	take_part(p, a);
	sum_part(p, &top, &sum, room, sums);
	float own = a.own[p.row];
	put_part(p, a, own, top, sum, count_equal(p, top, own, sums));
}

__global__ void
__launch_bounds__(BLOCK) entropy_sums(struct entropy a)
{
	__shared__ float room[WARP];
	__shared__ double sums[WARP];
	struct row_part p;
	float top;
	double sum;

	take_part(p, a);
	sum_part(p, &top, &sum, room, sums);
	double equal = count_equal(p, top, a.own[p.row], sums);
	if (!threadIdx.x) {
		a.equals[blockIdx.x] = equal;
		a.tops[blockIdx.x] = top;
		a.sums[blockIdx.x] = sum;
	}
}

__global__ void
__launch_bounds__(BLOCK) entropy_parts(struct entropy a)
{
	__shared__ float room[WARP];
	__shared__ double sums[WARP];
	size_t row = blockIdx.x / a.parts;
	const float *tops = a.tops + row * a.parts;
	float top = -INFINITY;
	double sum = 0, equal = 0;
	struct row_part p;

	for (size_t i = threadIdx.x; i < a.parts; i += blockDim.x)
		top = row_greater(top, tops[i]);
	top = row_max<2 * WARP>(top, room);
	for (size_t i = threadIdx.x; i < a.parts; i += blockDim.x) {
		sum += a.sums[row * a.parts + i] *
		       exp((double)base_of(tops[i]) - (double)base_of(top));
		equal += tops[i] == top ? a.equals[row * a.parts + i] : 0;
	}
	sum = block_sum(sum, sums);
	equal = block_sum(equal, sums);
	take_part(p, a);
	put_part(p, a, a.own[row], top, sum, equal);
}

/* Saves the targets' logits before gradients overwrite them. */
__global__ void
take_own(struct entropy a)
{
	for (size_t r = grid_thread(); r < a.R; r += grid_threads())
		a.own[r] = a.logits[r * a.V + (size_t)a.targets[r]];
}

__global__ void
add_losses(struct nn_loss *sum, const double *losses, const double *hits, size_t R)
{
	__shared__ double room[WARP];
	double loss = 0, correct = 0;

	for (size_t r = threadIdx.x; r < R; r += blockDim.x) {
		loss += losses[r];
		correct += hits[r];
	}
	loss = block_sum(loss, room);
	correct = block_sum(correct, room);
	if (!threadIdx.x) {
		sum->loss += loss;
		sum->correct += correct;
	}
}
} // namespace

void
nn_softmax(float *y, const float *x, size_t R, size_t V)
{
	bool whole = row_whole(y, 0, V) && row_whole(x, 0, V);

	row_shaped(V, [=](auto shape) {
		typedef decltype(shape) S;
		device_launch(softmax_rows<S::WIDTH, S::KEPT>, device_blocks(R, S::ROWS),
		    S::THREADS, 0, y, x, whole, R, V);
	});
}

void
nn_softmax_back(float *dx, const float *dy, const float *y, size_t R, size_t V)
{
	bool whole = row_whole(dx, 0, V) && row_whole(dy, 0, V) && row_whole(y, 0, V);

	row_shaped(V, [=](auto shape) {
		typedef decltype(shape) S;
		device_launch(softmax_gradients<S::WIDTH, S::KEPT>,
		    device_blocks(R, S::ROWS), S::THREADS, 0, dx, dy, y, whole, R, V);
	});
}

void
nn_cross_entropy(float *logits, struct nn_loss *sum, const int32_t *targets,
    const uint8_t *mask, float scale, size_t R, size_t V)
{
	size_t parts = (V + PART - 1) / PART, fours = (V + 3) / 4;
	unsigned threads =
	    parts > 1 || fours >= BLOCK ? BLOCK : device_blocks(fours, WARP) * WARP;

	if (!R || !V)
		return;
	scratch<float> tops(R * parts), own(R);
	scratch<double> sums(R * parts), equals(R * parts), losses(R), hits(R);
	struct entropy a = { logits, targets, mask, scale, R, V, parts,
		row_whole(logits, 0, V) && row_whole(mask, 0, V), tops.at, sums.at,
		equals.at, own.at, losses.at, hits.at };
	device_launch(take_own, device_spread(R), BLOCK, 0, a);
	if (parts == 1)
		device_launch(entropy_rows, (unsigned)R, threads, 0, a);
	else {
		device_launch(entropy_sums, (unsigned)(R * parts), BLOCK, 0, a);
		device_launch(entropy_parts, (unsigned)(R * parts), BLOCK, 0, a);
	}
	device_launch(add_losses, 1, 1024, 0, sum, losses.at, hits.at, R);
}
