/*
 * rounded_check NAME... - linear layers whose products are of bf16, forward and backward
 */
#include <omp.h>

#include "nn_check.h"

/* Rounds to bf16, ties to even, by arithmetic on doubles, not on bits. */
static double
rounded(double x)
{
	int exponent;
	double fraction = frexp(x, &exponent);

	return ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

struct layer {
	size_t T, C, O, ldx, ldy;
	struct array *x, *w, *bias, *dy;
};

static struct layer
layer_new(size_t T, size_t C, size_t O)
{
	struct layer l = { .T = T, .C = C, .O = O, .ldx = C + 5, .ldy = O + 3 };

	l.x = array_random(T * l.ldx, 1);
	l.w = array_random(O * C, 0.5);
	l.bias = array_random(O, 1);
	l.dy = array_random(T * l.ldy, 1);
	for (size_t i = 0; i < T * l.ldx; i++)
		l.x->ref[i] = rounded(l.x->ref[i]);
	for (size_t i = 0; i < O * C; i++)
		l.w->ref[i] = rounded(l.w->ref[i]);
	return l;
}

static struct nn_matrix
weights(const struct layer *l)
{
	struct nn_matrix w = nn_f32(l->w->at);

	w.bf16 = true;
	return w;
}

static void
forward(const struct layer *l)
{
	struct array *y = array_random(l->T * l->ldy, 1), *z = array_of(l->T * l->O, 0.5);
	double *wanted = mem_zero(l->O, sizeof *wanted);
	struct array *before = array_new(l->T * l->ldy);

	memcpy(before->at, y->at, y->n * sizeof *y->at);
	nn_linear(
	    y->at, l->ldy, l->x->at, l->ldx, weights(l), l->bias->at, l->T, l->C, l->O);
	nn_linear_add(z->at, l->O, l->x->at, l->ldx, weights(l), l->T, l->C, l->O);
	for (size_t t = 0; t < l->T; t++) {
		for (size_t o = 0; o < l->O; o++) {
			wanted[o] = 0;
			for (size_t c = 0; c < l->C; c++)
				wanted[o] +=
				    l->x->ref[t * l->ldx + c] * l->w->ref[o * l->C + c];
			wanted[o] += 0.5;
		}
		expect("added", z->at + t * l->O, wanted, l->O, 3e-5);
		for (size_t o = 0; o < l->O; o++)
			wanted[o] += l->bias->ref[o] - 0.5;
		expect("forward", y->at + t * l->ldy, wanted, l->O, 3e-5);
		if (memcmp(y->at + t * l->ldy + l->O, before->at + t * l->ldy + l->O,
			(l->ldy - l->O) * sizeof *y->at)) {
			printf("what lies beside the columns is written\n");
			failures++;
		}
	}
	free(wanted);
}

static void
backward(const struct layer *l)
{
	size_t T = l->T, C = l->C, O = l->O;
	struct array *dx = array_of(T * C, 7), *dw = array_of(O * C, 2),
		     *db = array_of(O, 3);
	double *wanted = mem_zero(T * C + O * C + O, sizeof *wanted);
	double *wanted_w = wanted + T * C, *wanted_b = wanted_w + O * C;

	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++) {
			double d = rounded(l->dy->ref[t * l->ldy + o]);
			for (size_t c = 0; c < C; c++) {
				wanted[t * C + c] += d * l->w->ref[o * C + c];
				wanted_w[o * C + c] += d * l->x->ref[t * l->ldx + c];
			}
			wanted_b[o] += l->dy->ref[t * l->ldy + o];
		}
	for (size_t i = 0; i < O * C; i++)
		wanted_w[i] += 2;
	for (size_t i = 0; i < O; i++)
		wanted_b[i] += 3;
	nn_linear_back(dx->at, false, dw->at, db->at, l->dy->at, l->ldy, l->x->at, l->ldx,
	    weights(l), T, C, O);
	expect("dx", dx->at, wanted, T * C, 3e-5);
	expect("dw", dw->at, wanted_w, O * C, 3e-5);
	expect("db", db->at, wanted_b, O, 3e-5);
	nn_linear_back(dx->at, true, NULL, NULL, l->dy->at, l->ldy, l->x->at, l->ldx,
	    weights(l), T, C, O);
	for (size_t i = 0; i < T * C; i++)
		wanted[i] *= 2;
	expect("dx added", dx->at, wanted, T * C, 3e-5);
	free(wanted);
}

/* Sizes above each block: 96 rows, 512 terms of a sum, 512 columns, or 2,048 if a sum has at most 128 terms. */
static void
check_layers(void)
{
	static const size_t sizes[][3] = { { 1, 1, 1 }, { 1, 2, 3 }, { 3, 31, 17 },
		{ 8, 64, 16 }, { 9, 65, 33 }, { 97, 130, 63 }, { 200, 513, 65 },
		{ 33, 1100, 70 }, { 50, 70, 1030 }, { 1030, 48, 50 }, { 20, 600, 1030 },
		{ 20, 70, 2100 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct layer l = layer_new(sizes[i][0], sizes[i][1], sizes[i][2]);
		forward(&l);
		backward(&l);
		/* values that bf16 cannot represent */
		struct array *x = array_random(l.T * l.C, 1), *y = array_new(l.T * l.O),
			     *z = array_new(l.T * l.O), *near = array_new(l.T * l.C);
		for (size_t j = 0; j < x->n; j++)
			near->at[j] = (float)rounded(x->ref[j]);
		nn_linear(y->at, l.O, x->at, l.C, weights(&l), NULL, l.T, l.C, l.O);
		nn_linear(z->at, l.O, near->at, l.C, weights(&l), NULL, l.T, l.C, l.O);
		expect_same("rounded as they are read", y, z);
		nn_linear_activate(
		    z->at, l.O, x->at, l.C, weights(&l), NULL, NN_GELU, l.T, l.C, l.O);
		nn_activate(y->at, y->at, NN_GELU, y->n);
		expect_same("activated", z, y);
	}
}

/* A row gives the same bits in any batch and with any number of threads. */
static void
check_rows(void)
{
	struct layer l = layer_new(150, 600, 140);
	size_t T = l.T, C = l.C, O = l.O;
	struct array *all = array_new(T * O), *y = array_new(T * O),
		     *dx = array_new(T * C), *dw = array_new(O * C);

	nn_linear(all->at, O, l.x->at, l.ldx, weights(&l), l.bias->at, T, C, O);
	nn_linear_back(dx->at, false, dw->at, NULL, l.dy->at, l.ldy, l.x->at, l.ldx,
	    weights(&l), T, C, O);
	for (int threads = 1; threads <= 3; threads++) {
		omp_set_num_threads(threads);
		for (size_t step = 1; step <= T; step = step * 3 + 1) {
			for (size_t t = 0; t < T; t += step)
				nn_linear(y->at + t * O, O, l.x->at + t * l.ldx, l.ldx,
				    weights(&l), l.bias->at, T - t < step ? T - t : step,
				    C, O);
			expect_same("rows in other company", y, all);
		}
		struct array *x = array_new(T * C), *w = array_new(O * C);
		nn_linear_back(x->at, false, w->at, NULL, l.dy->at, l.ldy, l.x->at, l.ldx,
		    weights(&l), T, C, O);
		expect_same("dx by other threads", x, dx);
		expect_same("dw by other threads", w, dw);
	}
}

/* NaN stays in its row, forward and backward. */
static void
check_edges(void)
{
	struct layer l = layer_new(40, 70, 50);
	static const float wrong[] = { NAN, INFINITY };
	struct array *y = array_new(l.T * l.O), *dx = array_new(l.T * l.C);

	for (int i = 0; i < 2; i++) {
		l.x->at[3 * l.ldx + 69] = l.dy->at[3 * l.ldy + 49] = wrong[i];
		nn_linear(y->at, l.O, l.x->at, l.ldx, weights(&l), NULL, l.T, l.C, l.O);
		nn_linear_back(dx->at, false, NULL, NULL, l.dy->at, l.ldy, NULL, l.C,
		    weights(&l), l.T, l.C, l.O);
		for (size_t t = 0; t < l.T; t++)
			if (nn_finite(y->at + t * l.O, l.O) == (t == 3) ||
			    nn_finite(dx->at + t * l.C, l.C) == (t == 3)) {
				printf("a value that is not finite stays in its row\n");
				failures++;
			}
	}
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = { { "layers", check_layers },
		{ "rows", check_rows }, { "edges", check_edges } };

	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
