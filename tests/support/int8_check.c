/*
 * int8_check NAME... - 8-bit weights: nn_quantize, and products with the matrix that it makes
 *
 * The matrix is dequantised here by the formula of nn.h; products must have the bits of products with that matrix.
 */
#include <omp.h>

#include "nn_check.h"

static void
fail(const char *what)
{
	printf("%s\n", what);
	failures++;
}

/* w[o,c] by the packed rows */
static float
weight(const char *rows, size_t C, size_t o, size_t c)
{
	const char *row = rows + o * (C + (C + 127) / 128 * 4);
	float scale;

	memcpy(&scale, row + C + c / 128 * 4, sizeof scale);
	return (float)(signed char)row[c] * scale;
}

/* Two rows of 200 values: groups of 128 and 72, each with its own absmax. */
static void
check_values(void)
{
	enum { C = 200, ROW = C + 2 * 4 };
	static const float greatest[2][2] = { { 1.27f, 254 }, { 0, 12.7f } };
	float w[2 * C] = { 0 }, scale;
	signed char rows[2 * ROW + 1];

	memset(rows, 99, sizeof rows);
	w[0] = 1.27f;	     /* 127 x 0.01 */
	w[1] = -0.5f;	     /* -50 */
	w[2] = 0.0149f;	     /* 1.49 */
	w[3] = -0.0151f;     /* -1.51 */
	w[128] = -254;	     /* -127 x 2 */
	w[129] = 5;	     /* a tie: to even */
	w[199] = 100.9f;     /* 50.45 */
	w[C + 128] = 12.7f;  /* 127 x 0.1 */
	w[C + 199] = -12.7f; /* -127 */
	static const int wanted[][3] = { { 0, 0, 127 }, { 0, 1, -50 }, { 0, 2, 1 },
		{ 0, 3, -2 }, { 0, 4, 0 }, { 0, 128, -127 }, { 0, 129, 2 },
		{ 0, 199, 50 }, { 1, 0, 0 }, { 1, 127, 0 }, { 1, 128, 127 },
		{ 1, 199, -127 } };
	if (nn_row_size(DTYPE_I8, C) != ROW || nn_row_size(DTYPE_I8, 128) != 132)
		fail("a row is its values and four bytes a group");
	if (!nn_quantize(rows, w, DTYPE_F32, 2, C) || rows[2 * ROW] != 99)
		fail("two rows of 200 are refused, or more is written");
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		expect_value(
		    "value", rows[wanted[i][0] * ROW + wanted[i][1]], wanted[i][2], 0);
	for (int o = 0; o < 2; o++)
		for (int g = 0; g < 2; g++) {
			memcpy(&scale, rows + o * ROW + C + 4 * g, sizeof scale);
			expect_value(
			    "scale", (double)scale, (double)greatest[o][g] / 127, 1e-7);
		}
}

/* For every floating type and alignment: the error of a weight is at most half a step, and 0 for the greatest of its
 * group. */
static void
check_error(void)
{
	static const size_t widths[] = { 1, 127, 128, 129, 300 };
	static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16,
		DTYPE_F64 };
	enum { O = 7, MOST = 300 * O };
	char stored[MOST * 8 + 1], rows[MOST + O * 12];
	float w[MOST];

	for (size_t i = 0; i < 20; i++) {
		size_t C = widths[i % 5], size = dtype_size(dtypes[i / 5]);
		for (size_t j = 0; j < O * C; j++) {
			w[j] = (float)(pow(10, (double)(j % 3)) * rng_normal(&chance));
			tensor_from_f32(stored + 1 + j * size, dtypes[i / 5], w + j, 1);
		}
		tensor_to_f32(w, stored + 1, dtypes[i / 5], O * C);
		if (!nn_quantize(rows, stored + 1, dtypes[i / 5], O, C))
			fail("finite values are refused");
		for (size_t o = 0; o < O; o++)
			for (size_t c = 0; c < C; c++) {
				float scale;
				memcpy(&scale,
				    rows + o * nn_row_size(DTYPE_I8, C) + C + c / 128 * 4,
				    4);
				double off = fabs(
				    (double)w[o * C + c] - (double)weight(rows, C, o, c));
				if (!(off <= (double)scale * 0.500001))
					fail("a weight is off by more than half a step");
			}
	}
}

static void
check_refused(void)
{
	static const float wrong[] = { NAN, INFINITY, -INFINITY };
	static const float small[] = { 0, 1e-45f, 1e-38f, 3e38f };
	enum { O = 400, C = 129 };
	float *w = mem_zero(O * C, sizeof *w);
	char *rows = mem_new(O, nn_row_size(DTYPE_I8, C));

	for (int i = 0; i < 3; i++) {
		w[(O - 1) * C + 128] = wrong[i];
		if (nn_quantize(rows, w, DTYPE_F32, O, C))
			fail("a value that is not finite is taken");
	}
	for (int i = 0; i < 4; i++) {
		w[(O - 1) * C + 128] = small[i];
		if (!nn_quantize(rows, w, DTYPE_F32, O, C) ||
		    fabs((double)weight(rows, C, O - 1, 128) - (double)small[i]) >
			1e-38 * (small[i] < 1 ? 1 : 1e72))
			fail("the smallest or the greatest value is lost");
	}
	if (!nn_quantize(rows, w, DTYPE_F32, 0, C))
		fail("no rows are refused");
	free(w);
	free(rows);
}

/* Compares products of 8-bit rows, from `first` on, with products of the same rows in float32. */
static void
product_case(size_t T, size_t C, size_t O)
{
	const size_t first = 3;
	size_t row = nn_row_size(DTYPE_I8, C);
	struct array *x = array_random(T * C, 1), *w = array_random((first + O) * C, 0.2);
	struct array *b = array_random(O, 1), *y = array_new(T * O),
		     *y8 = array_new(T * O);
	struct array *dy = array_random(T * O, 1), *dx = array_new(T * C),
		     *dx8 = array_new(T * C);
	char *rows = mem_new(first + O, row);
	bool copied;

	nn_quantize(rows, w->at, DTYPE_F32, first + O, C);
	for (size_t i = 0; i < (first + O) * C; i++)
		w->ref[i] = (double)weight(rows, C, i / C, i % C);
	array_upload(w);
	struct nn_matrix whole = { .at = nn_bytes_of(rows, (first + O) * row, 1, &copied),
		.dtype = DTYPE_I8 };
	struct nn_matrix eight = nn_matrix_from(whole, first, C);
	struct nn_matrix wide = nn_matrix_from(f32(w), first, C);
	nn_linear(y->at, O, x->at, C, wide, b->at, T, C, O);
	nn_linear_back(dx->at, false, NULL, NULL, dy->at, O, NULL, C, wide, T, C, O);
	for (int threads = 1; threads <= 3; threads++) {
		omp_set_num_threads(threads);
		for (size_t i = 0; i < T * O; i++)
			y8->ref[i] = 777;
		for (size_t i = 0; i < T * C; i++)
			dx8->ref[i] = 777;
		array_upload(y8);
		array_upload(dx8);
		nn_linear(y8->at, O, x->at, C, eight, b->at, T, C, O);
		expect_same("linear", y8, y);
		nn_linear_back(
		    dx8->at, false, NULL, NULL, dy->at, O, NULL, C, eight, T, C, O);
		expect_same("linear dx", dx8, dx);
	}
	nn_linear_activate(y->at, O, x->at, C, wide, NULL, NN_SILU, T, C, O);
	nn_linear_activate(y8->at, O, x->at, C, eight, NULL, NN_SILU, T, C, O);
	expect_same("linear and SiLU", y8, y);
	nn_linear_add(y->at, O, x->at, C, wide, T, C, O);
	nn_linear_add(y8->at, O, x->at, C, eight, T, C, O);
	expect_same("linear, added", y8, y);
	if (copied)
		nn_free((void *)whole.at, row * (first + O));
	free(rows);
	arrays_free();
}

static void
check_products(void)
{
	static const size_t rows[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 600 };
	static const size_t shapes[][2] = { { 1, 1 }, { 127, 5 }, { 128, 33 },
		{ 129, 40 }, { 300, 77 }, { 1100, 130 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
			product_case(rows[i], shapes[j][0], shapes[j][1]);
	/* large enough for several threads */
	product_case(2, 1100, 1000);
	product_case(9, 1100, 1000);
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = { { "values", check_values },
		{ "error", check_error }, { "refused", check_refused },
		{ "products", check_products } };

	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
