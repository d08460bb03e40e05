/*
 * nn_bench_large [THREADS] - the kernels on what large models ask of them
 *
 * Weights read from memory, in each type, for a few tokens and for many; long texts, windows,
 * look-ahead masks and grouped heads in attention.  See nn_bench.c, which holds these kernels to
 * the processor's peak; here a plain read of the same memory is the measure.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "nn/nn.h"

/* More than caches hold; the channels of Qwen3-Embedding-0.6B. */
enum { WEIGHTS = 256 << 20, WIDTH = 1024, INNER = 3072, TOKENS = 2048 };

static double
now(void)
{
	struct timespec t;

	/* with one thread, processor time: other programs hardly disturb it */
	clock_gettime(
	    omp_get_max_threads() > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *
numbers(size_t n)
{
	float *x = nn_alloc(n * sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)(i * 2654435761u >> 8 & 0xffff) / 65536 - 0.5f;
	return x;
}

/* Seconds of one product of T tokens; each repetition reads weights from another part of memory. */
static double
product(float *y, const float *x, const char *weights, enum dtype dtype, size_t T)
{
	size_t size = INNER * nn_row_size(dtype, WIDTH), count = WEIGHTS / size;
	double best = 1e9;

	count = T < 100 ? count : 3;
	for (int round = 0; round < 4; round++) {
		double start = now();
		for (size_t i = 0; i < count; i++)
			nn_linear(y, INNER, x, WIDTH,
			    (struct nn_matrix){
				.at = weights + i * size, .dtype = dtype },
			    NULL, T, WIDTH, INNER);
		double seconds = (now() - start) / (double)count;
		best = seconds < best ? seconds : best;
	}
	return best;
}

static void
bench_weights(void)
{
	static const size_t tokens[] = { 1, 2, 4, 8, 16, 128, TOKENS };
	static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_I8 };
	float *weights = numbers(WEIGHTS / sizeof *weights), *x = numbers(TOKENS * WIDTH);
	float *y = numbers(TOKENS * INNER);
	double best = 1e9;

	for (int round = 0; round < 4; round++) {
		double start = now(),
		       sum = nn_square_sum(weights, WEIGHTS / sizeof(float));
		double seconds = now() - start;
		best = sum > 0 && seconds < best ? seconds : best;
	}
	printf("sum of squares of the weights %.1f GB/s\n", 1e-9 * WEIGHTS / best);
	for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
		for (size_t j = 0; j < sizeof dtypes / sizeof *dtypes; j++) {
			double seconds =
			    product(y, x, (const char *)weights, dtypes[j], tokens[i]);
			double values = (double)WIDTH * INNER;
			printf(
			    "%4zu tokens, %-4s weights %9.3f ms %6.1f GB/s %6.1f GF/s\n",
			    tokens[i], dtype_name(dtypes[j]), 1e3 * seconds,
			    1e-9 * INNER * (double)nn_row_size(dtypes[j], WIDTH) /
				seconds,
			    2e-9 * values * (double)tokens[i] / seconds);
		}
	nn_free(weights, WEIGHTS);
	nn_free(x, TOKENS * WIDTH * sizeof *x);
	nn_free(y, TOKENS * INNER * sizeof *y);
}

struct form {
	size_t length, heads, kv_heads, size, window;
	bool causal;
};

/* Pairs of a query and a key that it sees. */
static double
pairs(const struct form *f)
{
	double all = 0;

	for (size_t i = 0; i < f->length; i++) {
		size_t before = f->window && i > f->window ? f->window : i;
		size_t after = f->length - 1 - i;
		after = f->window && after > f->window ? f->window : after;
		all += (double)(before + 1 + (f->causal ? 0 : after));
	}
	return all;
}

static void
bench_attention(const struct form *f)
{
	size_t q = f->heads * f->size, kv = f->kv_heads * f->size, T = f->length;
	int32_t starts[] = { 0, (int32_t)T };
	struct nn_attention a = { .sequences = { starts, 1, T, T, NULL, NULL, NULL },
		.H = f->heads,
		.K = f->kv_heads,
		.D = f->size,
		.ldq = q,
		.ldkv = kv,
		.causal = f->causal,
		.window = f->window };
	float *x[] = { numbers(T * q), numbers(T * kv), numbers(T * kv), numbers(T * q),
		numbers(T * q), numbers(T * q), numbers(T * kv), numbers(T * kv) };
	float *lse = numbers(T * f->heads);
	double forward = 1e9, backward = 1e9, work = 4 * pairs(f) * (double)q;

	for (int round = 0; round < 2; round++) {
		double start = now();
		nn_attention(x[3], lse, x[0], x[1], x[2], &a);
		double middle = now();
		nn_attention_back(
		    x[5], x[6], x[7], NULL, x[4], x[3], lse, x[0], x[1], x[2], &a);
		double end = now();
		forward = middle - start < forward ? middle - start : forward;
		backward = end - middle < backward ? end - middle : backward;
	}
	printf(
	    "%5zu tokens, heads %2zu/%2zu of %3zu, window %4zu%s: %9.2f ms %5.1f GF/s, back %9.2f ms %5.1f GF/s\n",
	    T, f->heads, f->kv_heads, f->size, f->window, f->causal ? ", causal" : "",
	    1e3 * forward, 1e-9 * work / forward, 1e3 * backward,
	    2.5e-9 * work / backward);
	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		nn_free(x[i], T * (i == 1 || i == 2 || i > 5 ? kv : q) * sizeof **x);
	nn_free(lse, T * f->heads * sizeof *lse);
}

int
main(int argc, char **argv)
{
	static const struct form forms[] = { { 2048, 8, 8, 64, 0, false },
		{ 2048, 4, 4, 128, 0, false }, { 2048, 2, 2, 256, 0, false },
		{ 2048, 8, 8, 64, 0, true }, { 2048, 8, 2, 64, 0, true },
		{ 1024, 4, 4, 64, 64, false }, { 8192, 4, 4, 64, 64, false },
		{ 32768, 4, 4, 64, 64, false }, { 8192, 4, 4, 64, 64, true },
		{ 8192, 2, 1, 128, 0, true }, { 32768, 1, 1, 64, 0, true } };

	nn_start(argc > 1 ? atoi(argv[1]) : 0, argv);
	puts(nn_about());
	bench_weights();
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		bench_attention(&forms[i]);
	return 0;
}
