#include "nn/cuda/row.h"
#include "nn/cuda/square_sum.h"

namespace
{

/*
 * Slices are cut into chunks, and blocks take one chunk after another: firsts[i] is the number of chunks of the slices before i.
 */
__global__ void
__launch_bounds__(BLOCK)
    count_chunks(size_t *firsts, const struct nn_slice *slices, size_t count)
{
	__shared__ unsigned long long room[BLOCK];
	unsigned long long before = 0;

	for (size_t from = 0; from < count; from += BLOCK) {
		size_t i = from + threadIdx.x;
		size_t own = i < count ? (slices[i].count + SQUARE_SUM_CHUNK - 1) /
					     SQUARE_SUM_CHUNK
				       : 0;
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
__launch_bounds__(BLOCK) sum_chunks(double *parts, const float *x,
    const struct nn_slice *slices, const size_t *firsts, size_t count)
{
	__shared__ double room[WARP];

	for (size_t at = blockIdx.x; at < firsts[count]; at += gridDim.x) {
		size_t i = segment_of(firsts, count, at);
		double sum = square_sum_of_chunk(
		    x + slices[i].offset, at - firsts[i], slices[i].count, room);
		if (!threadIdx.x)
			parts[at] = sum;
	}
}

__global__ void
__launch_bounds__(BLOCK)
    sum_slices(double *sums, const double *parts, const size_t *firsts)
{
	__shared__ double room[WARP];
	size_t i = blockIdx.x, from = firsts[i];
	double sum = square_sum_of_chunks(parts + from, firsts[i + 1] - from, room);

	if (!threadIdx.x)
		sums[i] = sum;
}

/* The factors of a slice, as f32. */
struct adamw_factors {
	float beta1, beta2, rest1, rest2, eps, scale, keep, rate, root;
};

__device__ struct adamw_factors
factors_of(const struct nn_adamw &a, const struct nn_slice &slice)
{
	return { (float)a.beta1, (float)a.beta2, (float)(1 - a.beta1),
		(float)(1 - a.beta2), (float)a.eps, (float)a.scale,
		(float)(1 - a.lr * slice.decay),
		(float)(a.lr / (1 - pow(a.beta1, (double)slice.step))),
		(float)(1 / sqrt(1 - pow(a.beta2, (double)slice.step))) };
}

struct update {
	float *w, *m, *v, *gradient;
	struct nn_adamw a;
	const struct nn_slice *slices;
	const size_t *firsts;
	size_t count;
	bool whole; /* all four arrays are aligned */
};

/* Four elements from i on of a slice of n. */
__device__ __forceinline__ void
update_four(float *w, float *m, float *v, float *gradient, const struct adamw_factors &s,
    size_t i, size_t n, bool whole)
{
	struct four weight = row_take(w, i, n, whole), mean = row_take(m, i, n, whole);
	struct four square = row_take(v, i, n, whole);
	struct four raw = row_take(gradient, i, n, whole);

	for (int j = 0; j < 4; j++) {
		float g = raw.at[j] * s.scale;
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
__launch_bounds__(BLOCK) update_chunks(struct update u)
{
	__shared__ struct adamw_factors shared;

	for (size_t at = blockIdx.x; at < u.firsts[u.count]; at += gridDim.x) {
		size_t which = segment_of(u.firsts, u.count, at);
		const struct nn_slice slice = u.slices[which];
		size_t from = (at - u.firsts[which]) * SQUARE_SUM_CHUNK, n = slice.count;
		size_t to = n - from < SQUARE_SUM_CHUNK ? n : from + SQUARE_SUM_CHUNK;
		float *gradient = u.gradient + slice.offset;
		bool whole = u.whole && (slice.offset | slice.moments) % 4 == 0;

		__syncthreads(); /* the last one has been used */
		if (!threadIdx.x && slice.step)
			shared = factors_of(u.a, slice);
		__syncthreads();
		struct adamw_factors step = shared;
		for (size_t i = from + 4 * threadIdx.x; i < to; i += 4 * BLOCK) {
			bool all = whole && i + 4 <= n;
			if (slice.step)
				update_four(u.w + slice.offset, u.m + slice.moments,
				    u.v + slice.moments, gradient, step, i, n, all);
			else
				row_put(gradient, i, n, all, four_of(0));
		}
	}
}

/* Chunks of `count` slices of at most `most` elements. */
size_t
most_chunks(size_t count, size_t most)
{
	return count * ((most + SQUARE_SUM_CHUNK - 1) / SQUARE_SUM_CHUNK);
}

unsigned
chunk_blocks(size_t chunks)
{
	size_t enough = (size_t)device_size() * 8;

	return (unsigned)(chunks < enough ? chunks : enough);
}
} // namespace

void
nn_square_sums(double *sums, const float *x, const struct nn_slice *slices, size_t count,
    size_t most)
{
	size_t chunks = most_chunks(count, most);
	scratch<size_t> firsts(count + 1);
	scratch<double> parts(chunks);

	if (!count)
		return;
	device_launch(count_chunks, 1, BLOCK, 0, firsts.at, slices, count);
	device_launch(sum_chunks, chunk_blocks(chunks), BLOCK, 0, parts.at, x, slices,
	    firsts.at, count);
	device_launch(sum_slices, (unsigned)count, BLOCK, 0, sums, parts.at, firsts.at);
}

void
nn_adamw(float *w, float *m, float *v, float *gradient, const struct nn_adamw *a,
    const struct nn_slice *slices, size_t count, size_t most)
{
	scratch<size_t> firsts(count + 1);
	bool whole = row_whole(w, 0, 0) && row_whole(m, 0, 0) && row_whole(v, 0, 0) &&
		     row_whole(gradient, 0, 0);

	if (!count)
		return;
	device_launch(count_chunks, 1, BLOCK, 0, firsts.at, slices, count);
	device_launch(update_chunks, chunk_blocks(most_chunks(count, most)), BLOCK, 0,
	    update{ w, m, v, gradient, *a, slices, firsts.at, count, whole });
}
