#include "nn/cuda/square_sum.h"

namespace
{

__global__ void
scale(float *x, float by, size_t n)
{
	for (size_t i = grid_thread(); i < n; i += grid_threads())
		x[i] *= by;
}

__global__ void
add(float *y, const float *x, size_t n)
{
	for (size_t i = grid_thread(); i < n; i += grid_threads())
		y[i] += x[i];
}

__global__ void
lerp(float *y, const float *x, float by, size_t n)
{
	for (size_t i = grid_thread(); i < n; i += grid_threads())
		y[i] += by * (x[i] - y[i]);
}

__global__ void
square_parts(double *parts, const float *x, size_t n)
{
	__shared__ double room[WARP];
	double sum = square_sum_of_chunk(x, blockIdx.x, n, room);

	if (!threadIdx.x)
		parts[blockIdx.x] = sum;
}

__global__ void
total(double *sum, const double *parts, size_t n)
{
	__shared__ double room[WARP];
	double all = square_sum_of_chunks(parts, n, room);

	if (!threadIdx.x)
		*sum = all;
}

__global__ void
find_bad(unsigned *bad, const float *x, size_t n)
{
	unsigned found = 0;

	for (size_t i = grid_thread(); i < n; i += grid_threads())
		found |= (__float_as_uint(x[i]) & 0x7f800000) == 0x7f800000;
	if (found)
		atomicOr(bad, found);
}
} // namespace

void
nn_copy(float *y, const float *x, size_t n)
{
	if (n)
		device_check(cudaMemcpyAsync(y, x, n * sizeof *y,
				 cudaMemcpyDeviceToDevice, device_stream()),
		    "a copy on the device");
}

void
nn_zero(float *y, size_t n)
{
	if (n)
		device_check(cudaMemsetAsync(y, 0, n * sizeof *y, device_stream()),
		    "to clear memory");
}

void
nn_scale(float *x, float by, size_t n)
{
	device_launch(scale, device_spread(n), BLOCK, 0, x, by, n);
}

void
nn_add(float *y, const float *x, size_t n)
{
	device_launch(add, device_spread(n), BLOCK, 0, y, x, n);
}

void
nn_lerp(float *y, const float *x, float by, size_t n)
{
	device_launch(lerp, device_spread(n), BLOCK, 0, y, x, by, n);
}

double
nn_square_sum(const float *x, size_t n)
{
	unsigned count = device_blocks(n, SQUARE_SUM_CHUNK);
	scratch<double> parts(count + 1);
	double sum = 0;

	if (!n)
		return 0;
	device_launch(square_parts, count, BLOCK, 0, parts.at + 1, x, n);
	device_launch(total, 1, BLOCK, 0, parts.at, parts.at + 1, (size_t)count);
	nn_download(&sum, parts.at, sizeof sum);
	return sum;
}

bool
nn_finite(const float *x, size_t n)
{
	scratch<unsigned> bad(1);
	unsigned found = 0;

	nn_upload(bad.at, &found, sizeof found);
	device_launch(find_bad, device_spread(n), BLOCK, 0, bad.at, x, n);
	nn_download(&found, bad.at, sizeof found);
	return !found;
}
