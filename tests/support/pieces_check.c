/*
 * pieces_check NAME... - products larger than a backend computes at once, in weights, rows and columns; empty products; rows
 * with gaps between them; the absmax of columns
 */
#include "nn_check.h"

/* A layer with its sums in double, from the values that its weights and x have after rounding. */
struct layer {
	size_t T, C, O;
	struct array *x, *dy, *y, *dx, *dw, *w;
	struct nn_matrix weights;
};

/* Small integers: they and their products are exact in every type, and sums are less than 2^24. */
static struct array *
whole(size_t n)
{
	struct array *x = array_new(n);

	for (size_t i = 0; i < n; i++)
		x->ref[i] = (double)rng_below(&chance, 7) - 3;
	array_upload(x);
	return x;
}

static struct layer
layer_new(size_t T, size_t C, size_t O)
{
	struct layer l = { T, C, O, whole(T * C), whole(T * O), array_new(T * O),
		array_new(T * C), array_of(O * C, 1), whole(O * C), { 0 } };

	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++) {
			const double *x = l.x->ref + t * C, *w = l.w->ref + o * C;
			double d = l.dy->ref[t * O + o], sum = 0;
			for (size_t c = 0; c < C; c++) {
				sum += x[c] * w[c];
				l.dx->ref[t * C + c] += d * w[c];
				l.dw->ref[o * C + c] += d * x[c];
			}
			l.y->ref[t * O + o] = sum;
		}
	l.weights = f32(l.w);
	return l;
}

/* Compares the forward and dx; and dw if the weights have gradients. */
static void
expect_layer(const struct layer *l, bool learns)
{
	size_t T = l->T, C = l->C, O = l->O;

	nn_linear(l->y->at, O, l->x->at, C, l->weights, NULL, T, C, O);
	expect("forward", l->y->at, l->y->ref, T * O, 0);
	if (l->weights.packed)
		return;
	nn_linear_back(l->dx->at, false, learns ? l->dw->at : NULL, NULL, l->dy->at, O,
	    l->x->at, C, l->weights, T, C, O);
	expect("dx", l->dx->at, l->dx->ref, T * C, 0);
	if (learns)
		expect("dw", l->dw->at, l->dw->ref, O * C, 0);
}

/* More than 2^24 weights, which are widened to floats or rounded. */
static void
check_weights(void)
{
	enum { T = 2, C = 32768, O = 514 };
	struct layer l = layer_new(T, C, O);
	char *rows = mem_new(O, nn_row_size(DTYPE_I8, C));
	float *host = mem_new(O * C, sizeof *host);
	bool copied;

	l.weights.bf16 = true;
	expect_layer(&l, true);
	/* the greatest of a group is 127 steps of 1 */
	nn_download(host, l.w->at, O * C * sizeof *host);
	for (size_t i = 0; i < O * C; i += NN_QUANT_GROUP) {
		double more = 127 - (double)host[i];
		size_t o = i / C, c = i % C;
		host[i] = 127;
		for (size_t t = 0; t < T; t++) {
			l.y->ref[t * O + o] += more * l.x->ref[t * C + c];
			l.dx->ref[t * C + c] += more * l.dy->ref[t * O + o];
		}
	}
	nn_quantize(rows, host, DTYPE_F32, O, C);
	l.weights = (struct nn_matrix){ .at = nn_bytes_of(rows,
					    O * nn_row_size(DTYPE_I8, C), 1, &copied),
		.dtype = DTYPE_I8 };
	expect_layer(&l, false);
	if (copied)
		nn_free((void *)l.weights.at, O * nn_row_size(DTYPE_I8, C));
	free(rows);
	free(host);
}

/* x with more than 2^24 elements, which are rounded; in 8 bits, more than 2^23 sums. */
static void
check_rows(void)
{
	static const struct {
		size_t T, C, O;
		enum dtype kind;
	} cases[] = { { 514, 32768, 2, DTYPE_BF16 }, { 260, 3, 32800, DTYPE_I8 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t T = cases[i].T, C = cases[i].C, O = cases[i].O;
		enum dtype kind = cases[i].kind;
		struct layer l = layer_new(T, C, O);
		size_t bytes = nn_packed_size(kind, O, C);
		float *host = mem_new(O * C, sizeof *host);
		if (kind == DTYPE_BF16) {
			l.weights.bf16 = true;
			expect_layer(&l, true);
		}
		if (nn_supports(kind)) {
			void *to = nn_alloc(bytes);
			nn_download(host, l.w->at, O * C * sizeof *host);
			nn_pack(to, kind, host, DTYPE_F32, false, NULL, O, C);
			l.weights = (struct nn_matrix){ to, kind, true, false };
			/* three terms; errors of half a step, 1/127 of w and 1/255 of x, which are up to 3 */
			nn_linear(l.y->at, O, l.x->at, C, l.weights, NULL, T, C, O);
			expect("packed", l.y->at, l.y->ref, T * O,
			    kind == DTYPE_I8
				? 3 * 3.0 * 3 / 2 / 127 + 3 * 6.0 * 3 / 2 / 255
				: 0);
			nn_free(to, bytes);
		}
		free(host);
		arrays_free();
	}
}

/* More rows and columns than 2^21. */
static void
check_many(void)
{
	size_t many = ((size_t)1 << 21) + 5, K = 2;
	struct array *a = whole(many * K), *b = whole(K * K), *c = array_of(many * K, 1);

	for (size_t m = 0; m < many; m++)
		for (size_t n = 0; n < K; n++)
			c->ref[m * K + n] = 1 + a->ref[m * K] * b->ref[n * K] +
					    a->ref[m * K + 1] * b->ref[n * K + 1];
	nn_product_nt(c->at, a->at, b->at, many, K, K, 1, 1);
	expect("many rows", c->at, c->ref, many * K, 0);
	for (size_t m = 0; m < K; m++)
		for (size_t n = 0; n < many; n++)
			c->ref[m * many + n] = b->ref[m * K] * a->ref[n * K] +
					       b->ref[m * K + 1] * a->ref[n * K + 1];
	nn_product_nt(c->at, b->at, a->at, K, many, K, 1, 0);
	expect("many columns", c->at, c->ref, many * K, 0);
}

static void
check_nothing(void)
{
	struct array *x = array_random(12, 1), *w = array_random(12, 1),
		     *y = array_random(12, 1), *before = array_new(12),
		     *bias = array_random(4, 1), *none = array_new(12);

	nn_copy(before->at, y->at, 12);
	nn_linear(y->at, 4, x->at, 3, f32(w), bias->at, 0, 3, 4);
	nn_linear(y->at, 0, x->at, 3, f32(w), bias->at, 4, 3, 0);
	nn_linear_back(NULL, false, y->at, y->at, x->at, 4, x->at, 3, f32(w), 0, 3, 4);
	nn_product_tn(y->at, x->at, w->at, 3, 4, 0, 1, 1);
	expect_same("no rows, columns or terms", y, before);
	nn_product_nn(y->at, x->at, w->at, 3, 4, 0, 1, 0.5f);
	for (int i = 0; i < 12; i++)
		before->ref[i] = y->ref[i] / 2;
	expect("half of it and no terms", y->at, before->ref, 12, 0);
	nn_linear_back(y->at, false, NULL, NULL, x->at, 1, NULL, 4, f32(w), 3, 4, 0);
	expect("of no outputs", y->at, none->ref, 12, 0);
	y->ref[3] = NAN;
	array_upload(y);
	nn_product_nt(y->at, x->at, w->at, 3, 4, 0, 1, 0);
	expect("no terms", y->at, none->ref, 12, 0);
	y->ref[3] = NAN;
	array_upload(y);
	nn_product_nt(y->at, x->at, w->at, 3, 4, 3, 0, 0);
	expect("nothing of them", y->at, none->ref, 12, 0);
}

/* Rows of y with any stride; the memory between them stays unchanged. */
static void
check_strides(void)
{
	enum { T = 37, C = 41, O = 43, LDX = C + 2, LDY = O + 3 };
	struct array *x = array_random(T * LDX + 1, 1), *w = array_random(O * C + 1, 0.2),
		     *bias = array_random(O + 1, 1), *y = array_of(T * LDY + 1, 7),
		     *dx = array_of(T * C + 1, 7), *db = array_of(O + 1, 7);
	struct nn_matrix matrix = nn_f32(w->at + 1);
	double *wanted = mem_new(T * LDY + 1, sizeof *wanted);

	for (size_t i = 0; i < T * LDY + 1; i++)
		wanted[i] = 7;
	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++) {
			double sum = bias->ref[o + 1];
			for (size_t c = 0; c < C; c++)
				sum += x->ref[1 + t * LDX + c] * w->ref[1 + o * C + c];
			wanted[1 + t * LDY + o] = sum;
		}
	nn_linear(y->at + 1, LDY, x->at + 1, LDX, matrix, bias->at + 1, T, C, O);
	expect("strided", y->at, wanted, T * LDY + 1, 1e-5);
	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++) {
			double *at = &wanted[1 + t * LDY + o];
			*at = *at > 0 ? *at : 0;
		}
	nn_linear_activate(
	    y->at + 1, LDY, x->at + 1, LDX, matrix, bias->at + 1, NN_RELU, T, C, O);
	expect("strided and activated", y->at, wanted, T * LDY + 1, 1e-5);
	for (size_t t = 0; t < T; t++)
		for (size_t c = 0; c < C; c++) {
			double sum = 0;
			for (size_t o = 0; o < O; o++)
				sum += wanted[1 + t * LDY + o] * w->ref[1 + o * C + c];
			dx->ref[1 + t * C + c] = sum;
		}
	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++)
			db->ref[1 + o] += wanted[1 + t * LDY + o];
	nn_linear_back(dx->at + 1, false, NULL, db->at + 1, y->at + 1, LDY, NULL, C,
	    matrix, T, C, O);
	expect("dx of strided rows", dx->at, dx->ref, T * C + 1, 1e-5);
	expect("db of strided rows", db->at, db->ref, O + 1, 1e-5);
	free(wanted);
}

/* Absmax of the columns of many rows; NaN is ignored unless a value is infinite. */
static void
check_reach(void)
{
	enum { T = 1300, C = 70, LDX = C + 3 };
	struct array *x = array_random(T * LDX, 1);
	float most[C];

	x->ref[700 * LDX + 5] = NAN;
	x->ref[1200 * LDX + 6] = -INFINITY;
	x->ref[300 * LDX + 7] = -50;
	array_upload(x);
	for (size_t c = 0; c < C; c++)
		most[c] = c % 2 ? 0 : 3.5f;
	nn_column_absmax(most, x->at, LDX, T, C);
	nn_column_absmax(most, x->at, LDX, 0, C);
	for (size_t c = 0; c < C; c++) {
		double greatest = c % 2 ? 0 : 3.5;
		for (size_t t = 0; t < T; t++)
			greatest = fmax(greatest, fabs(x->ref[t * LDX + c]));
		if (!((double)most[c] >= greatest && (double)most[c] <= greatest)) {
			printf("column %zu reaches to %g, not %g\n", c, (double)most[c],
			    greatest);
			failures++;
		}
	}
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = { { "weights", check_weights },
		{ "rows", check_rows }, { "many", check_many },
		{ "nothing", check_nothing }, { "strides", check_strides },
		{ "reach", check_reach } };

	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
