/*
 * packed_check NAME... - nn_pack to 8 bits and to bf16, and linear layers with packed weights
 *
 * packed_check bits - print a hash of 8-bit results, which all kernels must share
 */
#include <inttypes.h>
#include <omp.h>

#include "nn_check.h"

static void
fail(const char *what)
{
	printf("%s\n", what);
	failures++;
}

/* A packed matrix; NULL: nn_pack refused it. */
struct matrix {
	struct nn_matrix packed;
	size_t bytes;
};

static struct matrix
pack(enum dtype kind, const float *w, bool turned, const float *most, size_t O, size_t C)
{
	struct matrix m = { .bytes = nn_packed_size(kind, O, C) };
	void *to = nn_alloc(m.bytes);

	if (!nn_pack(to, kind, w, DTYPE_F32, turned, most, O, C))
		fail("a finite matrix is refused");
	m.packed = (struct nn_matrix){ .at = to, .dtype = kind, .packed = true };
	return m;
}

static void
let_go(struct matrix m)
{
	nn_free((void *)m.packed.at, m.bytes);
}

/* Integers from `least` to `most`; both occur if n is large enough. */
static void
draw_whole(float *to, size_t n, int least, int most)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (float)(least +
				(int)rng_below(&chance, (uint64_t)(most - least + 1)));
	to[0] = (float)least;
	to[n - 1] = (float)most;
}

/* Rows from -100 to 155 in steps of 1, or of a power of 2, and weights from -127 to 126: nothing is rounded. */
static void
whole(enum dtype kind)
{
	static const size_t sizes[][3] = { { 1, 2, 1 }, { 1, 64, 16 }, { 3, 63, 17 },
		{ 5, 65, 64 }, { 7, 384, 65 }, { 17, 130, 100 }, { 33, 200, 129 },
		{ 97, 384, 48 }, { 200, 1000, 80 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t T = sizes[i][0], C = sizes[i][1], O = sizes[i][2], ldx = C + 3;
		struct array *x = array_new(T * ldx), *w = array_new(O * C),
			     *turned = array_new(O * C), *bias = array_new(O),
			     *y = array_new(T * (O + 5)), *z = array_new(T * O);
		double *wanted = mem_zero(T * O, sizeof *wanted);
		for (size_t o = 0; o < O; o++)
			bias->at[o] =
			    (float)(bias->ref[o] = (double)rng_below(&chance, 1000));
		for (size_t t = 0; t < T; t++) {
			draw_whole(x->at + t * ldx, C, -100, 155);
			for (size_t c = 0; c < C; c++)
				x->at[t * ldx + c] *= t % 2 ? 0.25f : 8;
		}
		for (size_t o = 0; o < O; o++) {
			draw_whole(w->at + o * C, C, -127, 126);
			for (size_t c = 0; c < C; c++)
				turned->at[c * O + o] = w->at[o * C + c];
		}
		for (size_t t = 0; t < T; t++)
			for (size_t o = 0; o < O; o++) {
				wanted[t * O + o] = bias->ref[o];
				for (size_t c = 0; c < C; c++)
					wanted[t * O + o] += (double)x->at[t * ldx + c] *
							     (double)w->at[o * C + c];
			}
		struct matrix m = pack(kind, w->at, false, NULL, O, C);
		struct matrix n = pack(kind, turned->at, true, NULL, O, C);
		for (size_t j = 0; j < T * (O + 5); j++)
			y->at[j] = 7;
		nn_linear(y->at, O + 5, x->at, ldx, m.packed, bias->at, T, C, O);
		for (size_t t = 0; t < T; t++) {
			expect(
			    "whole numbers", y->at + t * (O + 5), wanted + t * O, O, 0);
			for (size_t o = O; o < O + 5; o++)
				if (y->at[t * (O + 5) + o] != 7)
					fail("what lies beside the columns is written");
		}
		nn_linear(z->at, O, x->at, ldx, n.packed, bias->at, T, C, O);
		expect("turned", z->at, wanted, T * O, 0);
		/* without bias, added to y */
		for (size_t j = 0; j < T * O; j++)
			z->at[j] = bias->at[j % O];
		nn_linear_add(z->at, O, x->at, ldx, m.packed, T, C, O);
		expect("added", z->at, wanted, T * O, 0);
		for (size_t j = 0; j < T * O; j++)
			wanted[j] = wanted[j] > 0 ? wanted[j] : 0;
		nn_linear_activate(
		    z->at, O, x->at, ldx, m.packed, bias->at, NN_RELU, T, C, O);
		expect("activated", z->at, wanted, T * O, 0);
		let_go(m);
		let_go(n);
		free(wanted);
	}
}

/* Runs a check with all kinds that this backend has. */
static void
each_kind(void (*check)(enum dtype kind))
{
	check(DTYPE_I8);
	if (nn_supports(DTYPE_BF16))
		check(DTYPE_BF16);
}

static void
check_whole(void)
{
	each_kind(whole);
}

/* Root mean square of y - x w^T over that of x w^T. */
static double
error_of(enum dtype kind, const struct array *x, const struct array *w, const float *most,
    size_t T, size_t C, size_t O)
{
	struct array *y = array_new(T * O);
	struct matrix m = pack(kind, w->at, false, most, O, C);
	double wrong = 0, right = 0;

	nn_linear(y->at, O, x->at, C, m.packed, NULL, T, C, O);
	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++) {
			double sum = 0;
			for (size_t c = 0; c < C; c++)
				sum += x->ref[t * C + c] * w->ref[o * C + c];
			wrong += pow((double)y->at[t * O + o] - sum, 2);
			right += sum * sum;
		}
	let_go(m);
	return sqrt(wrong / right);
}

/*
 * Normal numbers: a step of a weight is most / 127 and one of x range / 255, where of 300 both are some 3
 * and 6 deviations, and an error is uniform within a step: sqrt((3/127)^2 / 12 + (6/255)^2 / 12) = 0.0096.
 * Of bf16 both have errors up to 2^-9 of them, which are 0.29 x 2^-8 / 0.69 (what 2^n to 2^(n + 1) is on average, as it
 * weighs in squares) each: 0.0023 together.
 * A column of x that reaches 50 times as far makes the steps of x ten and more times as long; smoothed it costs little.
 */
static void
check_error(void)
{
	enum { T = 50, C = 300, O = 70 };
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 0.05);
	float most[C] = { 0 };

	double plain = error_of(DTYPE_I8, x, w, NULL, T, C, O);
	expect_value("error", plain, 0.0096, 0.0015);
	if (nn_supports(DTYPE_BF16))
		expect_value("error of bf16", error_of(DTYPE_BF16, x, w, NULL, T, C, O),
		    0.0023, 0.0003);
	for (size_t t = 0; t < T; t++)
		x->ref[t * C + 99] *= 50;
	for (size_t o = 0; o < O; o++)
		w->ref[o * C + 99] /= 50;
	array_upload(x);
	array_upload(w);
	nn_column_absmax(most, x->at, C, T / 2, C);
	nn_column_absmax(most, x->at + T / 2 * C, C, T - T / 2, C);
	for (size_t c = 0; c < C; c++) {
		double greatest = 0;
		for (size_t t = 0; t < T; t++)
			greatest = fmax(greatest, fabs(x->ref[t * C + c]));
		expect_value("reach of a column", (double)most[c], greatest, 0);
	}
	double far = error_of(DTYPE_I8, x, w, NULL, T, C, O),
	       smoothed = error_of(DTYPE_I8, x, w, most, T, C, O);
	if (!(far > 5 * plain && smoothed < 1.3 * plain))
		printf("errors: %g, of a column that reaches far %g, smoothed %g\n",
		    plain, far, smoothed),
		    failures++;
	/* columns that are 0, or have no statistics, keep their scale */
	for (size_t c = 100; c < C; c++)
		most[c] = 0;
	for (size_t o = 0; o < O; o++)
		w->ref[o * C + 7] = 0;
	array_upload(w);
	if (!(error_of(DTYPE_I8, x, w, most, T, C, O) < 3 * plain))
		fail("columns that reach nowhere spoil the others");
}

/* GELU within a layer, on all columns and on the last few, compared with GELU of the layer's result. */
static void
gelu(enum dtype kind)
{
	enum { T = 50, C = 200, O = 150 };
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 1),
		     *bias = array_random(O, 1), *y = array_new(T * O);
	float sums[T * O];
	double wanted[T * O];
	struct matrix m = pack(kind, w->at, false, NULL, O, C);

	nn_scale(x->at, 0.2f, T * C);
	nn_linear(y->at, O, x->at, C, m.packed, bias->at, T, C, O);
	nn_download(sums, y->at, sizeof sums);
	for (size_t i = 0; i < T * O; i++)
		wanted[i] = sums[i] * 0.5 * erfc(-sums[i] / sqrt(2));
	nn_linear_activate(y->at, O, x->at, C, m.packed, bias->at, NN_GELU, T, C, O);
	expect("GELU", y->at, wanted, T * O, 8e-5);
	let_go(m);
}

static void
check_gelu(void)
{
	each_kind(gelu);
}

/* A row gives the same bits in any batch and with any number of threads. */
static void
rows(enum dtype kind)
{
	enum { T = 250, C = 200, O = 300 };
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 1),
		     *bias = array_random(O, 1), *all = array_new(T * O),
		     *y = array_new(T * O);
	struct matrix m = pack(kind, w->at, false, NULL, O, C);

	nn_linear_activate(all->at, O, x->at, C, m.packed, bias->at, NN_GELU, T, C, O);
	for (int threads = 1; threads <= 3; threads++)
		for (size_t step = 1; step <= T; step = step * 3 + 1) {
			omp_set_num_threads(threads);
			for (size_t t = 0; t < T; t += step)
				nn_linear_activate(y->at + t * O, O, x->at + t * C, C,
				    m.packed, bias->at, NN_GELU,
				    T - t < step ? T - t : step, C, O);
			expect_same("rows in other company", y, all);
		}
	let_go(m);
}

static void
check_rows(void)
{
	each_kind(rows);
}

/* Zeros, values that are not finite, and the widest rows. */
static void
edges(enum dtype kind)
{
	enum { C = 70, O = 20, WIDE = NN_MAX_PACKED, MANY = 70 };
	struct array *x = array_random(3 * C, 1), *w = array_random(O * C, 1),
		     *bias = array_random(O, 1), *y = array_new(3 * O);
	static const float wrong[] = { NAN, INFINITY, -INFINITY };
	struct matrix m = pack(kind, w->at, false, NULL, O, C);
	void *to = nn_alloc(nn_packed_size(kind, O, C));

	memset(x->at + C, 0, C * sizeof *x->at);
	nn_linear(y->at, O, x->at, C, m.packed, bias->at, 3, C, O);
	expect("a row of zeros", y->at + O, bias->ref, O, 0);
	for (int i = 0; i < 3; i++) {
		x->at[2 * C - 1] = wrong[i];
		nn_linear(y->at, O, x->at, C, m.packed, bias->at, 3, C, O);
		for (size_t o = 0; o < O; o++)
			if (isfinite(y->at[O + o]) || !isfinite(y->at[o]) ||
			    !isfinite(y->at[2 * O + o]))
				fail("a value that is not finite stays in its row");
		w->at[O * C - 1] = wrong[i];
		if (nn_pack(to, kind, w->at, DTYPE_F32, false, NULL, O, C))
			fail("a weight that is not finite is taken");
		w->at[O * C - 1] = 0;
	}
	/* the greatest and the least possible sum, in so many rows that all threads take part */
	struct array *long_x = array_of(MANY * WIDE, 1), *long_w = array_of(2 * WIDE, 1),
		     *long_y = array_new(2 * MANY);
	for (size_t c = 0; c < WIDE; c++)
		long_w->at[WIDE + c] = -1;
	struct matrix wide = pack(kind, long_w->at, false, NULL, 2, WIDE);
	nn_linear(long_y->at, 2, long_x->at, WIDE, wide.packed, NULL, MANY, WIDE, 2);
	for (int i = 0; i < 2 * MANY; i++)
		expect_value(
		    "the widest row", (double)long_y->at[i], i % 2 ? -WIDE : WIDE, 1e-6);
	let_go(wide);
	let_go(m);
	nn_free(to, nn_packed_size(kind, O, C));
}

static void
check_edges(void)
{
	each_kind(edges);
}

/* Packed floats give the same bits as unpacked ones, from any type, transposed or not. */
static void
check_floats(void)
{
	static const size_t sizes[][3] = { { 1, 1, 1 }, { 3, 385, 31 }, { 8, 64, 32 },
		{ 9, 70, 33 }, { 49, 384, 415 }, { 130, 1000, 80 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t T = sizes[i][0], C = sizes[i][1], O = sizes[i][2];
		struct array *x = array_random(T * C, 1), *w = array_random(O * C, 1),
			     *turned = array_new(O * C), *bias = array_random(O, 1),
			     *y = array_random(T * O, 1), *z = array_new(T * O);
		for (size_t o = 0; o < O; o++)
			for (size_t c = 0; c < C; c++)
				turned->at[c * O + o] = w->at[o * C + c];
		struct matrix m = pack(DTYPE_F32, w->at, false, NULL, O, C);
		struct matrix n = pack(DTYPE_F32, turned->at, true, NULL, O, C);
		memcpy(z->at, y->at, T * O * sizeof *z->at);
		nn_linear_add(y->at, O, x->at, C, m.packed, T, C, O);
		nn_linear_add(z->at, O, x->at, C, nn_f32(w->at), T, C, O);
		expect_same("added", y, z);
		nn_linear_activate(
		    z->at, O, x->at, C, nn_f32(w->at), bias->at, NN_GELU, T, C, O);
		nn_linear_activate(
		    y->at, O, x->at, C, m.packed, bias->at, NN_GELU, T, C, O);
		expect_same("activated", y, z);
		nn_linear_activate(
		    y->at, O, x->at, C, n.packed, bias->at, NN_GELU, T, C, O);
		expect_same("turned", y, z);
		w->at[O * C - 1] = NAN;
		let_go(m);
		m = pack(DTYPE_F32, w->at, false, NULL, O, C);
		nn_linear(y->at, O, x->at, C, m.packed, bias->at, T, C, O);
		for (size_t t = 0; t < T; t++)
			for (size_t o = 0; o < O; o++)
				if (isnan(y->at[t * O + o]) != (o == O - 1))
					fail(
					    "a weight that is no number is in its column");
		let_go(m);
		let_go(n);
	}
}

static void
print_bits(void)
{
	enum { T = 130, C = 300, O = 150 };
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 1),
		     *y = array_new(T * O);
	struct matrix m = pack(DTYPE_I8, w->at, false, NULL, O, C);

	nn_linear(y->at, O, x->at, C, m.packed, NULL, T, C, O);
	printf("%016" PRIx64 "\n", rng_hash(0, y->at, T * O * sizeof *y->at));
	let_go(m);
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = { { "whole", check_whole },
		{ "error", check_error }, { "gelu", check_gelu }, { "rows", check_rows },
		{ "edges", check_edges }, { "floats", check_floats } };

	if (argc == 2 && !strcmp(argv[1], "bits")) {
		nn_start(0, argv);
		print_bits();
		arrays_free();
		return 0;
	}
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
