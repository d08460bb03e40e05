/*
 * nn_bench [THREADS] - how near the kernels of nn.h come to what the processor can do
 * nn_bench --balance [TOKENS] THREADS - how evenly they divide their work, in batches of so many tokens (nn_bench_balance.h)
 *
 * Shapes of all-MiniLM-L6 (384 channels, 12 heads, 1536 inner).  Rates are those of the
 * quickest of the repetitions that fit in a third of a second: other processes slow the rest.
 * "of peak" is against fused multiply-adds that never leave the registers.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "nn_bench_balance.h"

enum { TOKENS = 4096, WIDTH = 384, INNER = 1536, HEADS = 12, HEAD = 32 };

static double
now(void)
{
	struct timespec t;

	/* with one thread, processor time: other programs hardly disturb it */
	clock_gettime(
	    omp_get_max_threads() > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Arrays of one case; unused ones are NULL. */
struct work {
	float *x, *y, *z, *w, *b, *q, *k, *v, *lse, *stats;
	size_t T, C, O;
	enum nn_act act;
	struct nn_attention attention;
};

static double
quickest(void (*run)(struct work *), struct work *work)
{
	double best = 1e9, end = now() + 0.35;

	run(work);
	do {
		double start = now();
		run(work);
		double seconds = now() - start;
		best = seconds < best ? seconds : best;
	} while (now() < end);
	return best;
}

/* The peak: independent multiply-adds, enough of them to hide the latency, few enough for the registers. */
#ifdef __AVX512F__
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

static double
spin(long rounds)
{
	vector sum[12], by;

	for (int l = 0; l < LANES; l++)
		by[l] = 0.999f;
	for (int i = 0; i < 12; i++)
		sum[i] = by * (float)i;
	for (long r = 0; r < rounds; r++)
#pragma GCC unroll 12
		for (int i = 0; i < 12; i++)
			sum[i] = sum[i] * by + by;
	for (int i = 1; i < 12; i++)
		sum[0] += sum[i];
	return (double)sum[0][0];
}

static void
spin_all(struct work *work)
{
	double sink = 0;

#pragma omp parallel reduction(+ : sink)
	sink += spin(1000000);
	work->stats[0] = (float)sink;
}

static void
linear(struct work *w)
{
	nn_linear(w->y, w->O, w->x, w->C, nn_f32(w->w), w->b, w->T, w->C, w->O);
}

static void
linear_activate(struct work *w)
{
	nn_linear_activate(
	    w->y, w->O, w->x, w->C, nn_f32(w->w), w->b, w->act, w->T, w->C, w->O);
}

static void
linear_back(struct work *w)
{
	nn_linear_back(w->z, false, w->w, w->b, w->y, w->O, w->x, w->C, nn_f32(w->w),
	    w->T, w->C, w->O);
}

static void
attention(struct work *w)
{
	nn_attention(w->y, w->lse, w->q, w->k, w->v, &w->attention);
}

static void
attention_back(struct work *w)
{
	nn_attention_back(
	    w->x, w->z, w->w, NULL, w->b, w->y, w->lse, w->q, w->k, w->v, &w->attention);
}

static void
norm(struct work *w)
{
	nn_norm(
	    w->y, NULL, NULL, w->x, w->z, w->w, w->b, 1e-5f, NN_LAYERNORM, w->T, w->C);
}

static void
norm_back(struct work *w)
{
	nn_norm_back(
	    w->y, w->w, w->b, w->z, w->x, w->stats, w->w, NN_LAYERNORM, w->T, w->C);
}

static void
activate(struct work *w)
{
	nn_activate(w->y, w->x, w->act, w->T * w->C);
}

static void
activate_back(struct work *w)
{
	nn_activate_back(w->y, w->z, w->x, w->act, w->T * w->C);
}

static void
rotary(struct work *w)
{
	nn_rotary(w->x, WIDTH, w->b, 0, &w->attention.sequences, HEADS, HEAD, 1);
}

static void
adamw(struct work *w)
{
	struct nn_adamw a = { 1e-4, 0.9, 0.999, 1e-8, 1 };
	struct nn_slice all = { 0, w->T * w->C, 0.01, 10, 0 };

	nn_adamw(w->x, w->y, w->z, w->w, &a, &all, 1, all.count);
}

static void
cross_entropy(struct work *w)
{
	struct nn_loss sum = { 0 };

	nn_copy(w->y, w->x, w->T * w->C);
	nn_cross_entropy(w->y, &sum, w->attention.sequences.starts, NULL, 1, w->T, w->C);
}

static float *
random_array(size_t n)
{
	static uint64_t stream;
	struct rng chance = rng_seed(1, stream++);
	float *x = nn_alloc(n * sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)rng_uniform(&chance) - 0.5f;
	return x;
}

static void
flops(const char *what, double seconds, double operations, double peak)
{
	printf("%-36s %9.3f ms %8.1f GF/s %5.1f %% of peak\n", what, 1e3 * seconds,
	    1e-9 * operations / seconds, 1e-7 * operations / seconds / peak);
}

static void
bytes(const char *what, double seconds, double count)
{
	printf(
	    "%-36s %9.3f ms %8.1f GB/s\n", what, 1e3 * seconds, 1e-9 * count / seconds);
}

static void
bench_linear(struct work *w, size_t T, size_t C, size_t O, double peak)
{
	char what[64];
	double operations = 2.0 * (double)T * (double)C * (double)O;

	w->T = T, w->C = C, w->O = O;
	snprintf(what, sizeof what, "linear %zu x %zu -> %zu", T, C, O);
	flops(what, quickest(linear, w), operations, peak);
	snprintf(what, sizeof what, "linear + GELU %zu x %zu -> %zu", T, C, O);
	if (O == INNER)
		flops(what, quickest(linear_activate, w), operations, peak);
	snprintf(what, sizeof what, "linear back %zu x %zu -> %zu", T, C, O);
	flops(what, quickest(linear_back, w), 2 * operations, peak);
}

static void
bench_attention(struct work *w, size_t length, double peak)
{
	char what[64];
	double operations = 4.0 * TOKENS * (double)length * WIDTH;
	size_t N = TOKENS / length;
	int32_t *starts = mem_new(N + 1, sizeof *starts);

	for (size_t i = 0; i <= N; i++)
		starts[i] = (int32_t)(i * length);
	w->attention = (struct nn_attention){ .sequences = { starts, N, N * length,
						  length, NULL, NULL, NULL },
		.H = HEADS,
		.K = HEADS,
		.D = HEAD,
		.ldq = WIDTH,
		.ldkv = WIDTH };
	snprintf(what, sizeof what, "attention %zu x %zu tokens", N, length);
	flops(what, quickest(attention, w), operations, peak);
	snprintf(what, sizeof what, "attention back %zu x %zu tokens", N, length);
	flops(what, quickest(attention_back, w), 2.5 * operations, peak);
	if (length == 128) {
		double all = TOKENS * (double)WIDTH * sizeof(float);
		w->T = TOKENS, w->C = INNER;
		bytes("rotary", quickest(rotary, w), 2 * all);
	}
	free(starts);
}

int
main(int argc, char **argv)
{
	size_t n = (size_t)TOKENS * INNER;
	struct work w = { .act = NN_GELU };
	float **arrays[] = { &w.x, &w.y, &w.z, &w.w, &w.b, &w.q, &w.k, &w.v, &w.lse,
		&w.stats };

	bool balance = argc > 2 && strcmp(argv[1], "--balance") == 0;
	nn_start(argc > 1 ? atoi(argv[argc - 1]) : 0, argv);
	if (balance) {
		print_balance(
		    (size_t)atoi(argv[argc - 1]), argc > 3 ? atoi(argv[2]) : INT32_MAX);
		return 0;
	}
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		*arrays[i] = random_array(n);
	puts(nn_about());
	double peak =
	    omp_get_max_threads() * 1e6 * 12 * LANES * 2 / quickest(spin_all, &w) * 1e-9;
	printf("peak %.1f GF/s\n", peak);
	for (size_t T = 32; T <= TOKENS; T *= 8) {
		bench_linear(&w, T, WIDTH, WIDTH, peak);
		bench_linear(&w, T, WIDTH, 3 * WIDTH, peak);
		bench_linear(&w, T, WIDTH, INNER, peak);
		bench_linear(&w, T, INNER, WIDTH, peak);
	}
	for (size_t length = 16; length <= 2048; length *= 2)
		bench_attention(&w, length, peak);
	double all = (double)n * sizeof(float);
	w.T = TOKENS, w.C = INNER;
	bytes("GELU", quickest(activate, &w), 2 * all);
	bytes("GELU back", quickest(activate_back, &w), 3 * all);
	w.act = NN_SILU;
	bytes("SiLU", quickest(activate, &w), 2 * all);
	w.C = WIDTH;
	bytes("LayerNorm(x + r)", quickest(norm, &w), 3 * all / 4);
	bytes("LayerNorm back", quickest(norm_back, &w), 3 * all / 4);
	w.C = INNER;
	for (size_t i = 0; i < n; i++)
		w.z[i] = 1;
	bytes("AdamW", quickest(adamw, &w), 7 * all);
	int32_t targets[256] = { 0 };
	w.attention.sequences.starts = targets;
	w.T = 256, w.C = 24000;
	bytes("cross-entropy", quickest(cross_entropy, &w),
	    2 * 256 * 24000.0 * sizeof(float));
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		nn_free(*arrays[i], n * sizeof(float));
	return 0;
}
