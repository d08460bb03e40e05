#include "nn/cuda/row.h"
#include "nn/cuda/squares.h"

namespace
{

/*
 * Pieces are cut into stretches, and blocks take one stretch after another, of whichever piece: firsts[i] says how many
 * stretches the pieces before i have.
 */
__global__ void
__launch_bounds__(BLOCK)
    count_stretches(size_t *firsts, const struct nn_slice *pieces, size_t count)
{
	__shared__ unsigned long long room[BLOCK];
	unsigned long long before = 0;

	for (size_t from = 0; from < count; from += BLOCK) {
		size_t i = from + threadIdx.x;
		size_t own = i < count ? (pieces[i].count + SQUARES - 1) / SQUARES : 0;
		__syncthreads();
		room[threadIdx.x] = own;
		__syncthreads();
		for (unsigned other = 0; other < threadIdx.x; other++)
			own += room[other];
		own += before;
		if (i < count)
			firsts[i + 1] = own;
		for (int other = 0; other < BLOCK; other++)
			before += room[other];
	}
	if (!threadIdx.x)
		firsts[0] = 0;
}

__global__ void
__launch_bounds__(BLOCK) sum_stretches(double *parts, const float *x,
    const struct nn_slice *pieces, const size_t *firsts, size_t count)
{
	__shared__ double room[WARP];

	for (size_t at = blockIdx.x; at < firsts[count]; at += gridDim.x) {
		size_t i = stretch_of(firsts, count, at);
		double sum = squares_of(
		    x + pieces[i].offset, at - firsts[i], pieces[i].count, room);
		if (!threadIdx.x)
			parts[at] = sum;
	}
}

__global__ void
__launch_bounds__(BLOCK)
    sum_pieces(double *sums, const double *parts, const size_t *firsts)
{
	__shared__ double room[WARP];
	size_t i = blockIdx.x, from = firsts[i];
	double sum = squares_total(parts + from, firsts[i + 1] - from, room);

	if (!threadIdx.x)
		sums[i] = sum;
}

/* What is the same for all of a piece, as floats. */
struct step {
	float beta1, beta2, rest1, rest2, eps, scale, keep, rate, root;
};

__device__ struct step
step_of(const struct nn_adamw &a, const struct nn_slice &piece)
{
	return { (float)a.beta1, (float)a.beta2, (float)(1 - a.beta1),
		(float)(1 - a.beta2), (float)a.eps, (float)a.scale,
		(float)(1 - a.lr * piece.decay),
		(float)(a.lr / (1 - pow(a.beta1, (double)piece.step))),
		(float)(1 / sqrt(1 - pow(a.beta2, (double)piece.step))) };
}

struct update {
	float *w, *m, *v, *gradient;
	struct nn_adamw a;
	const struct nn_slice *pieces;
	const size_t *firsts;
	size_t count;
	bool whole; /* of all four arrays */
};

/* Four elements from i on of a piece of n. */
__device__ __forceinline__ void
update_four(float *w, float *m, float *v, float *gradient, const struct step &s, size_t i,
    size_t n, bool whole)
{
	struct four weight = row_take(w, i, n, whole), mean = row_take(m, i, n, whole);
	struct four square = row_take(v, i, n, whole);
	struct four slope = row_take(gradient, i, n, whole);

	for (int j = 0; j < 4; j++) {
		float g = slope.at[j] * s.scale;
		mean.at[j] = s.beta1 * mean.at[j] + s.rest1 * g;
		square.at[j] = s.beta2 * square.at[j] + s.rest2 * g * g;
		weight.at[j] =
		    s.keep * weight.at[j] -
		    s.rate * mean.at[j] / (sqrtf(square.at[j]) * s.root + s.eps);
	}
	row_put(w, i, n, whole, weight);
	row_put(m, i, n, whole, mean);
	row_put(v, i, n, whole, square);
	row_put(gradient, i, n, whole, four_of(0));
}

__global__ void
__launch_bounds__(BLOCK) update_stretches(struct update u)
{
	__shared__ struct step shared;

	for (size_t at = blockIdx.x; at < u.firsts[u.count]; at += gridDim.x) {
		size_t which = stretch_of(u.firsts, u.count, at);
		const struct nn_slice piece = u.pieces[which];
		size_t from = (at - u.firsts[which]) * SQUARES, n = piece.count;
		size_t to = n - from < SQUARES ? n : from + SQUARES;
		float *gradient = u.gradient + piece.offset;
		bool whole = u.whole && (piece.offset | piece.moments) % 4 == 0;

		__syncthreads(); /* the last one has been used */
		if (!threadIdx.x && piece.step)
			shared = step_of(u.a, piece);
		__syncthreads();
		struct step step = shared;
		for (size_t i = from + 4 * threadIdx.x; i < to; i += 4 * BLOCK) {
			bool all = whole && i + 4 <= n;
			if (piece.step)
				update_four(u.w + piece.offset, u.m + piece.moments,
				    u.v + piece.moments, gradient, step, i, n, all);
			else
				row_put(gradient, i, n, all, four_of(0));
		}
	}
}

/* Stretches that pieces of at most `most` can have. */
size_t
most_stretches(size_t count, size_t most)
{
	return count * ((most + SQUARES - 1) / SQUARES);
}

unsigned
stretch_blocks(size_t stretches)
{
	size_t enough = (size_t)device_size() * 8;

	return (unsigned)(stretches < enough ? stretches : enough);
}
} // namespace

void
nn_square_sums(double *sums, const float *x, const struct nn_slice *pieces, size_t count,
    size_t most)
{
	size_t stretches = most_stretches(count, most);
	scratch<size_t> firsts(count + 1);
	scratch<double> parts(stretches);

	if (!count)
		return;
	device_launch(count_stretches, 1, BLOCK, 0, firsts.at, pieces, count);
	device_launch(sum_stretches, stretch_blocks(stretches), BLOCK, 0, parts.at, x,
	    pieces, firsts.at, count);
	device_launch(sum_pieces, (unsigned)count, BLOCK, 0, sums, parts.at, firsts.at);
}

void
nn_adamw(float *w, float *m, float *v, float *gradient, const struct nn_adamw *a,
    const struct nn_slice *pieces, size_t count, size_t most)
{
	scratch<size_t> firsts(count + 1);
	bool whole = row_whole(w, 0, 0) && row_whole(m, 0, 0) && row_whole(v, 0, 0) &&
		     row_whole(gradient, 0, 0);

	if (!count)
		return;
	device_launch(count_stretches, 1, BLOCK, 0, firsts.at, pieces, count);
	device_launch(update_stretches, stretch_blocks(most_stretches(count, most)),
	    BLOCK, 0, update{ w, m, v, gradient, *a, pieces, firsts.at, count, whole });
}
