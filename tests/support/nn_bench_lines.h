/*
 * nn_bench_lines - for nn_bench_device alone: operands in the device's memory, times by events, lines of the table.
 */
#ifndef TESTS_SUPPORT_NN_BENCH_LINES_H
#define TESTS_SUPPORT_NN_BENCH_LINES_H

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "nn/cuda/gemm.h"

namespace
{

constexpr size_t SPREAD = (size_t)256 << 20;
constexpr int GROUPS = 7, MOST_SETS = 4;

struct {
	size_t tokens = 1 << 14;
	bool paper = false, quick = false; /* quick: one run of each, for tests */
	/* of an H100 (SXM), as others have measured: HBM3 at 90 % of 3.35 TB/s, dense bf16 under its power limit */
	double bytes = 3.0e12, operations = 700e12;
} bench;

/* Operands. ------------------------------------------------------------------------ */

/* Values between -1 and 1. */
__global__ void
draw(float *x, size_t n, unsigned seed)
{
	for (size_t i = grid_thread(); i < n; i += grid_threads()) {
		unsigned bits = ((unsigned)i + seed) * 2654435761u;
		bits = (bits ^ bits >> 15) * 2246822519u;
		bits = (bits ^ bits >> 13) * 3266489917u;
		x[i] = (float)(bits >> 8) / (1 << 23) - 1;
	}
}

/* Random floats, in several sets if they are small; at(run) is the set of a run. */
struct floats {
	size_t n, sets;
	float *first;

	explicit floats(size_t count)
	    : n(round_up(count, 64)),
	      sets(bench.quick
		       ? 1
		       : std::min<size_t>(MOST_SETS, 1 + SPREAD / (n * sizeof(float)))),
	      first(bench.paper ? nullptr
				: (float *)device_memory(n * sets * sizeof(float)))
	{
		if (first)
			device_launch(
			    draw, device_spread(n * sets), BLOCK, 0, first, n * sets, 1u);
	}
	~floats()
	{
		nn_free(first, 0);
	}
	floats(const floats &) = delete;
	floats &operator=(const floats &) = delete;
	float *
	at(int run) const
	{
		return first + (size_t)run % sets * n;
	}
};

/* The same as bf16, [R,C]. */
struct halves {
	floats room;
	size_t n;

	halves(size_t R, size_t C) : room(R * bf16_stride(C) / 2 + 1), n(R)
	{
		if (bench.paper)
			return;
		floats x(R * C);
		for (size_t set = 0; set < room.sets; set++)
			convert_to_bf16(at((int)set), x.at(0), C, R, C);
	}
	__nv_bfloat16 *
	at(int run) const
	{
		return (__nv_bfloat16 *)room.at(run);
	}
	struct nn_matrix
	matrix(int run) const
	{
		return { at(run), DTYPE_BF16, true, false };
	}
};

/* Texts of `length` tokens; 0: of the lengths of tests/bench/cuda.sh, 24 to 512, 67 in the mean. */
struct texts {
	std::string name;
	std::vector<int32_t> starts;
	size_t longest;
	double pairs; /* of tokens of the same text */
	scratch<int32_t> at;

	explicit texts(size_t length)
	    : name(length ? "texts of " + std::to_string(length) : "texts of 24 to 512"),
	      starts(1), longest(0), pairs(0), at(bench.paper ? 0 : bench.tokens + 1)
	{
		for (unsigned i = 1; starts.back() < (int32_t)bench.tokens; i++) {
			double chance = (i * 2654435761u >> 8) / 0x1p24;
			size_t n = length ? length : (size_t)(24 - 43 * log(1 - chance));
			n = std::min(
			    { n, (size_t)512, bench.tokens - (size_t)starts.back() });
			longest = std::max(longest, n);
			pairs += (double)(n * n);
			starts.push_back(starts.back() + (int32_t)n);
		}
		if (at.at)
			nn_upload(at.at, starts.data(), starts.size() * sizeof starts[0]);
	}
	struct nn_sequences
	sequences() const
	{
		return { at.at, starts.size() - 1, bench.tokens, longest, NULL, NULL,
			NULL };
	}
};

/* Times. --------------------------------------------------------------------------- */

typedef std::function<void(int run)> call;

struct times {
	double device, queue; /* us of a call */
};

double
host_seconds()
{
	return std::chrono::duration<double>(
	    std::chrono::steady_clock::now().time_since_epoch())
	    .count();
}

struct span {
	cudaEvent_t from, till;

	span()
	{
		device_check(
		    cudaEventCreateWithFlags(&from, cudaEventDefault), "an event");
		device_check(
		    cudaEventCreateWithFlags(&till, cudaEventDefault), "an event");
	}
	~span()
	{
		cudaEventDestroy(from);
		cudaEventDestroy(till);
	}
	/* us a call */
	struct times
	of(const call &run, int first, int count)
	{
		float milliseconds;
		device_check(cudaEventRecord(from, device_stream()), "an event");
		double start = host_seconds();
		for (int i = 0; i < count; i++)
			run(first + i);
		double queued = host_seconds() - start;
		device_check(cudaEventRecord(till, device_stream()), "an event");
		device_check(cudaEventSynchronize(till), "to wait for the device");
		device_check(cudaEventElapsedTime(&milliseconds, from, till), "a time");
		return { 1e3 * (double)milliseconds / count, 1e6 * queued / count };
	}
};

double
median(std::vector<double> of)
{
	std::sort(of.begin(), of.end());
	return of[of.size() / 2];
}

struct times
times_of(const call &run)
{
	struct span span;
	std::vector<double> device, queue;

	if (bench.quick)
		return span.of(run, 0, 1);
	span.of(run, 0, 2);
	double once = span.of(run, 2, 2).device;
	/* a group lasts 2 ms, so that the host queues ahead of the device */
	int count = (int)std::min(100.0, std::max(1.0, 2e3 / (once + 1e-3)));
	for (int group = 0; group < GROUPS; group++) {
		struct times times = span.of(run, group * count, count);
		device.push_back(times.device);
		queue.push_back(times.queue);
	}
	return { median(device), median(queue) };
}

/* Lines. --------------------------------------------------------------------------- */

/* A layer's sums. */
struct {
	double floor, time; /* us */
	double bytes;
	bool whole; /* every kernel was measured */
} layer;

void
head(const char *title)
{
	layer = { 0, 0, 0, true };
	printf("\n%-44s %5s %9s %9s %9s %8s %8s %7s\n", title, "calls", "floor", "time",
	    "queue", "TFLOP/s", "GB/s", "share");
}

/*
 * Prints a line.  calls 0: not a part of the layer; run NULL: there is no such kernel yet; before: bytes of a kernel that runs before
 * the one of the other operations and bytes.
 */
void
line(const std::string &what, double calls, double operations, double bytes,
    const call &run, double before = 0)
{
	double floor =
	    1e6 * (std::max(operations / bench.operations, bytes / bench.bytes) +
		      before / bench.bytes);
	std::string name = (calls > 0 ? "" : "- ") + what;

	bytes += before;
	layer.floor += calls * floor;
	layer.bytes += calls * bytes;
	printf("%-44s %5.4g %9.2f ", name.c_str(), calls, floor);
	if (bench.paper || !run) {
		layer.whole = layer.whole && calls <= 0;
		puts("        -         -        -        -       -");
		return;
	}
	struct times t = times_of(run);
	layer.time += calls * t.device;
	printf("%9.2f %9.2f %8.1f %8.0f %6.1f%%\n", t.device, t.queue,
	    1e-6 * operations / t.device, 1e-3 * bytes / t.device,
	    100 * floor / t.device);
	fflush(stdout);
}

/* The time only if every kernel was measured. */
void
sum_line(const char *what, const char *format, double floor, double time)
{
	printf("%-44s %5s ", what, "");
	printf(format, floor);
	if (layer.whole && time > 0)
		printf(format, time);
	puts("");
}

void
sums(size_t layers)
{
	double tokens = (double)bench.tokens, all = 1e6 * tokens / (double)layers;

	sum_line("a layer", "%9.2f ", layer.floor, layer.time);
	sum_line("KB of a token and layer", "%9.1f ", 1e-3 * layer.bytes / tokens, 0);
	sum_line("tokens/s of the layers", "%9.0f ", all / layer.floor,
	    layer.time > 0 ? all / layer.time : 0);
}
} // namespace

#endif
