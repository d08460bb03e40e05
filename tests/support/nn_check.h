/*
 * nn_check.h - shared by the programs that check nn.h: arrays in the backend's memory and in double, comparisons, gradients by
 * central differences, and the choice of checks by name
 *
 * It holds functions because only test programs of one source file include it.
 */
#ifndef NN_CHECK_H
#define NN_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"

/* An array in the backend's memory (at), and its values in double (ref). */
struct array {
	float *at;
	double *ref;
	size_t n;
	struct array *next;
};

/* x as a matrix of weights. */
static inline struct nn_matrix
f32(const struct array *x)
{
	return nn_f32(x->at);
}

static struct array *arrays;
static struct rng chance;
static int failures;

static inline struct array *
array_new(size_t n)
{
	struct array *x = mem_new(1, sizeof *x);

	*x = (struct array){ nn_alloc(n * sizeof(float)), mem_zero(n, sizeof(double)), n,
		arrays };
	arrays = x;
	return x;
}

static inline void
array_upload(struct array *x)
{
	float *host = mem_new(x->n, sizeof *host);

	for (size_t i = 0; i < x->n; i++)
		x->ref[i] = (double)(host[i] = (float)x->ref[i]);
	nn_upload(x->at, host, x->n * sizeof *host);
	free(host);
}

static inline struct array *
array_random(size_t n, double scale)
{
	struct array *x = array_new(n);

	for (size_t i = 0; i < n; i++)
		x->ref[i] = scale * rng_normal(&chance);
	array_upload(x);
	return x;
}

static inline void
arrays_free(void)
{
	while (arrays) {
		struct array *x = arrays;
		arrays = x->next;
		nn_free(x->at, x->n * sizeof(float));
		free(x->ref);
		free(x);
	}
}

static inline void
expect(
    const char *what, const float *at, const double *wanted, size_t n, double tolerance)
{
	float *host = mem_new(n, sizeof *host);
	double worst = 0;
	size_t where = 0;

	nn_download(host, at, n * sizeof *host);
	for (size_t i = 0; i < n; i++) {
		double error = fabs((double)host[i] - wanted[i]) / (1 + fabs(wanted[i]));
		if (!(error <= worst)) {
			worst = error;
			where = i;
		}
	}
	if (!(worst <= tolerance)) {
		printf("%s[%zu]: %.9g, but %.9g is right (of %zu values)\n", what, where,
		    (double)host[where], wanted[where], n);
		failures++;
	} else if (verbosity > 0)
		printf("%s: within %.2g\n", what, worst);
	free(host);
}

/* Compares all bits. */
static inline void
expect_bits_of(const char *what, const float *got, const float *wanted, size_t n)
{
	float *x = mem_new(n, sizeof *x), *y = mem_new(n, sizeof *y);

	nn_download(x, got, n * sizeof *x);
	nn_download(y, wanted, n * sizeof *y);
	if (memcmp(x, y, n * sizeof *x)) {
		printf("%s: the bits of %zu values differ\n", what, n);
		failures++;
	}
	free(x);
	free(y);
}

static inline void
expect_same(const char *what, const struct array *got, const struct array *wanted)
{
	expect_bits_of(what, got->at, wanted->at, got->n);
}

static inline void
expect_value(const char *what, double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance * (1 + fabs(wanted)))) {
		printf("%s: %.12g, but %.12g is right\n", what, value, wanted);
		failures++;
	}
}

/* An operation in double: computes y from inputs; `sizes` is passed to it. */
struct operation {
	void (*forward)(double *y, struct array *const *in, const void *sizes);
	const void *sizes;
	struct array *in[9], *dy;
};

/* expect_gradient compares one element in GRADIENT_STRIDE.  Without sanitizers it compares each; with them the finite
 * differences take most of the time of a test. */
#ifdef __SANITIZE_ADDRESS__
enum { GRADIENT_STRIDE = 64 };
#else
enum { GRADIENT_STRIDE = 1 };
#endif

/* `got` is the gradient of sum(dy y) with regard to input `which`, plus `before`. */
static inline void
expect_gradient(const char *what, const float *got, const struct operation *o, int which,
    double before)
{
	const double step = 1e-5;
	struct array *x = o->in[which];
	double *wanted = mem_zero(x->n, sizeof *wanted);
	double *y = mem_zero(o->dy->n, sizeof *y);
	float *ours = mem_new(x->n, sizeof *ours);

	nn_download(ours, got, x->n * sizeof *ours);
	for (size_t i = 0; i < x->n; i++) {
		double keep = x->ref[i];
		wanted[i] = i % GRADIENT_STRIDE ? (double)ours[i] : before;
		if (i % GRADIENT_STRIDE)
			continue;
		for (int side = -1; side <= 1; side += 2) {
			x->ref[i] = keep + side * step;
			o->forward(y, o->in, o->sizes);
			for (size_t j = 0; j < o->dy->n; j++)
				wanted[i] += side * y[j] * o->dy->ref[j] / (2 * step);
		}
		x->ref[i] = keep;
	}
	expect(what, got, wanted, x->n, 2e-5);
	free(ours);
	free(wanted);
	free(y);
}

static inline struct array *
array_of(size_t n, double value)
{
	struct array *x = array_new(n);

	for (size_t i = 0; i < n; i++)
		x->ref[i] = value;
	array_upload(x);
	return x;
}

static inline int32_t *
device_ints(const int32_t *host, size_t n)
{
	/* an array's memory serves: floats and int32_t both have four bytes */
	struct array *x = array_new(n);

	nn_upload(x->at, host, n * sizeof *host);
	return (int32_t *)(void *)x->at;
}

/* Sequences from starts[i] to starts[i + 1]. */
static inline struct nn_sequences
sequences_at(const int32_t *starts, size_t N)
{
	struct nn_sequences made = { device_ints(starts, N + 1), N, (size_t)starts[N], 0,
		NULL, NULL, NULL };

	for (size_t i = 0; i < N; i++)
		if ((size_t)(starts[i + 1] - starts[i]) > made.longest)
			made.longest = (size_t)(starts[i + 1] - starts[i]);
	return made;
}

/* Arguments of attention for these sequences; rows of q, k and v follow each other without gaps. */
static inline struct nn_attention
attention_at(const int32_t *starts, size_t N, size_t H, size_t K, size_t D)
{
	struct nn_attention made = { .sequences = sequences_at(starts, N),
		.H = H,
		.K = K,
		.D = D,
		.ldq = H * D,
		.ldkv = K * D };

	return made;
}

struct check {
	const char *name;
	void (*run)(void);
};

/* Runs the named checks, or all; VERBOSE prints the errors measured.  Returns the exit status. */
static inline int
check_main(int argc, char **argv, const struct check *checks, size_t count)
{
	verbosity = getenv("VERBOSE") != NULL;
	nn_start(0, argv);
	for (size_t i = 0; i < count; i++) {
		bool wanted = argc == 1;
		for (int j = 1; j < argc; j++)
			wanted |= strcmp(argv[j], checks[i].name) == 0;
		if (!wanted)
			continue;
		chance = rng_seed(1, i);
		checks[i].run();
		arrays_free();
	}
	return failures != 0;
}

#endif
