/*
 * bf16_check NAME... - compare the kernels of nn/bf16.h with loops in double: convert linear gated f32 experts norm heads
 *
 * Inputs are random values rounded to bf16, hence exact; a result may differ by two roundings to bf16.
 */
#include "nn/bf16.h"
#include "nn_check.h"
#include "stream/tensor.h"

static const struct nn_bf16 *kernels;

/* An array of bf16 in the backend's memory, and its values in double. */
struct rounded {
	uint16_t *at;
	double *ref;
	size_t n;
};

static struct rounded
rounded_new(size_t n, double scale)
{
	struct rounded x = { nn_alloc(n * 2), mem_zero(n, sizeof *x.ref), n };
	uint16_t *host = mem_new(n, sizeof *host);

	for (size_t i = 0; i < n; i++) {
		host[i] = bf16_narrow((float)(scale * rng_normal(&chance)));
		x.ref[i] = (double)bf16_widen(host[i]);
	}
	nn_upload(x.at, host, n * sizeof *host);
	free(host);
	return x;
}

static void
rounded_free(struct rounded *x)
{
	nn_free(x->at, x->n * 2);
	free(x->ref);
}

/* x equals `ref` up to so many roundings to bf16 of the value or of `scale`. */
static void
holds(const char *what, const struct rounded *x, int roundings, double scale)
{
	uint16_t *host = mem_new(x->n, sizeof *host);

	nn_download(host, x->at, x->n * sizeof *host);
	for (size_t i = 0; i < x->n; i++) {
		double got = (double)bf16_widen(host[i]), want = x->ref[i];
		double room = roundings * 0x1p-9 * fmax(fabs(want), scale);
		if (fabs(got - want) <= room)
			continue;
		printf("%s: %zu: %g, but %g is right\n", what, i, got, want);
		failures++;
		break;
	}
	free(host);
}

static struct nn_matrix
packed(const struct rounded *w, size_t O, size_t C)
{
	uint16_t *host = mem_new(w->n, sizeof *host);
	void *to = nn_alloc(nn_packed_size(DTYPE_BF16, O, C));

	nn_download(host, w->at, w->n * sizeof *host);
	if (!nn_pack(to, DTYPE_BF16, host, DTYPE_BF16, false, NULL, O, C))
		die("weights are not finite");
	free(host);
	return (struct nn_matrix){ .at = to, .dtype = DTYPE_BF16, .packed = true };
}

static double
row_product(const struct rounded *x, const struct rounded *w, const struct array *b,
    size_t t, size_t o, size_t C)
{
	double sum = b ? b->ref[o] : 0;

	for (size_t c = 0; c < C; c++)
		sum += x->ref[t * C + c] * w->ref[o * C + c];
	return sum;
}

static double
act_of(enum nn_act act, double x)
{
	switch (act) {
	case NN_GELU: return x * erfc(-x / sqrt(2)) / 2;
	case NN_GELU_TANH:
		return x / (1 + exp(-2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case NN_SILU: return x / (1 + exp(-x));
	case NN_SIGMOID: return 1 / (1 + exp(-x));
	case NN_TANH: return tanh(x);
	case NN_RELU: return x > 0 ? x : 0;
	case NN_TANH_INT8: return rint(127 * tanh(x));
	}
	return x;
}

/* A layer with random weights, and their values in double. */
struct drawn_layer {
	struct rounded w, gate;
	struct array *b, *gate_b;
	struct nn_bf16_layer layer;
};

static struct drawn_layer
layer_new(size_t O, size_t C, bool bias, bool gated)
{
	struct drawn_layer l = { .w = rounded_new(O * C, 0.3),
		.b = bias ? array_random(O, 0.5) : NULL,
		.gate_b = bias && gated ? array_random(O, 0.5) : NULL };

	l.layer = (struct nn_bf16_layer){ .w = packed(&l.w, O, C),
		.b = bias ? l.b->at : NULL,
		.gate_b = l.gate_b ? l.gate_b->at : NULL,
		.O = O };
	if (gated) {
		l.gate = rounded_new(O * C, 0.3);
		l.layer.gate = packed(&l.gate, O, C);
	}
	return l;
}

static void
layer_free(struct drawn_layer *l, size_t C)
{
	size_t bytes = nn_packed_size(DTYPE_BF16, l->layer.O, C);

	nn_free((void *)l->layer.w.at, bytes);
	rounded_free(&l->w);
	if (!l->gate.at)
		return;
	nn_free((void *)l->layer.gate.at, bytes);
	rounded_free(&l->gate);
}

static double
layer_value(const struct drawn_layer *l, const struct rounded *x, int act, size_t t,
    size_t o, size_t C)
{
	double sum = row_product(x, &l->w, l->b, t, o, C);

	if (l->gate.at)
		return sum * act_of((enum nn_act)act,
				 row_product(x, &l->gate, l->gate_b, t, o, C));
	return act < 0 ? sum : act_of((enum nn_act)act, sum);
}

/* act -1: no activation; then the memory beside the columns must not change */
static void
check_linear_of(size_t T, size_t C, size_t O, size_t count, bool bias, int act)
{
	size_t ld = count * O + (act < 0 ? 16 : 0);
	struct rounded x = rounded_new(T * C, 1), y = rounded_new(T * ld, 1);
	struct drawn_layer drawn[3];
	struct nn_bf16_layer layers[3];
	enum nn_act of = (enum nn_act)(act < 0 ? 0 : act);

	for (size_t i = 0; i < count; i++) {
		drawn[i] = layer_new(O, C, bias, false);
		layers[i] = drawn[i].layer;
	}
	kernels->linear(y.at, ld, x.at, layers, count, act < 0 ? NULL : &of, T, C);
	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < count * O; o++)
			y.ref[t * ld + o] =
			    layer_value(&drawn[o / O], &x, act, t, o % O, C);
	holds("linear", &y, 4, 2);
	for (size_t i = 0; i < count; i++)
		layer_free(&drawn[i], C);
	rounded_free(&x), rounded_free(&y);
}

static void
check_linear(void)
{
	static const size_t rows[] = { 1, 7, 64, 129, 300 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		check_linear_of(rows[i], 64, 24, 1 + i % 3, i % 2, -1);
		check_linear_of(rows[i], 136, 264, 1, true, (int)i % 6);
		check_linear_of(rows[i], 8, 8, 3, true, -1);
	}
	for (int act = NN_GELU; act <= NN_RELU; act++)
		check_linear_of(40, 32, 48, 1, true, act);
}

static void
check_gated_of(size_t T, size_t C, size_t I, bool bias, enum nn_act act)
{
	struct rounded x = rounded_new(T * C, 1), y = rounded_new(T * I, 1);
	struct drawn_layer l = layer_new(I, C, bias, true);

	kernels->linear_gated(y.at, x.at, &l.layer, act, T, C);
	for (size_t t = 0; t < T; t++)
		for (size_t i = 0; i < I; i++)
			y.ref[t * I + i] = layer_value(&l, &x, (int)act, t, i, C);
	/* three roundings of factors as large as the scale of their product */
	holds("gated", &y, 6, 8);
	layer_free(&l, C);
	rounded_free(&x), rounded_free(&y);
}

static void
check_gated(void)
{
	check_gated_of(1, 8, 8, false, NN_SILU);
	check_gated_of(130, 72, 136, true, NN_SILU);
	check_gated_of(257, 64, 264, false, NN_GELU);
	check_gated_of(70, 128, 40, true, NN_GELU_TANH);
}

/* A router's logits, from weights in bf16 and in f32. */
static void
check_f32(void)
{
	const size_t T = 75, C = 64, O = 13;
	struct rounded x = rounded_new(T * C, 1), w = rounded_new(O * C, 0.3);
	struct array *y = array_new(T * O), *floats = array_new(O * C);
	struct nn_matrix stored = { .at = w.at, .dtype = DTYPE_BF16 };

	memcpy(floats->ref, w.ref, O * C * sizeof *w.ref);
	array_upload(floats);
	for (int i = 0; i < 2; i++) {
		kernels->linear_f32(
		    y->at, x.at, i ? nn_f32(floats->at) : stored, T, C, O);
		for (size_t t = 0; t < T; t++)
			for (size_t o = 0; o < O; o++)
				y->ref[t * O + o] = row_product(&x, &w, NULL, t, o, C);
		expect("f32", y->at, y->ref, y->n, 1e-5);
	}
	rounded_free(&x), rounded_free(&w);
}

/* Draws `top` experts for each of T tokens, never the expert `idle`. */
static void
draw_experts(int32_t *chosen, size_t T, size_t E, size_t top, size_t idle)
{
	for (size_t t = 0; t < T; t++) {
		size_t j = 0, left = E - 1;
		for (size_t e = 0; e < E; e++)
			if (e != idle && rng_below(&chance, left--) < top - j)
				chosen[t * top + j++] = (int32_t)e;
	}
}

static void
check_experts_of(size_t T, size_t C, size_t I, bool gated, bool bias, enum nn_act act)
{
	enum { E = 7, TOP = 3, IDLE = 4 };
	struct rounded x = rounded_new(T * C, 1), out = rounded_new(T * C, 1);
	struct drawn_layer in[E], down[E];
	struct nn_bf16_layer ins[E], downs[E];
	struct array *weights = array_random(T * TOP, 0.3), *own = array_random(C, 1);
	int32_t *chosen = mem_zero(T * TOP, sizeof *chosen), *on_device;
	int32_t offsets[E + 1], *rows = nn_alloc(T * TOP * 4),
				*slots = nn_alloc(T * TOP * 4);
	int32_t *found = nn_alloc(sizeof offsets);
	struct rounded inner = rounded_new(I, 1);

	draw_experts(chosen, T, E, TOP, IDLE);
	on_device = device_ints(chosen, T * TOP);
	nn_sort_by_expert(rows, slots, found, on_device, T, E, TOP);
	nn_download(offsets, found, sizeof offsets);
	for (size_t e = 0; e < E; e++) {
		in[e] = layer_new(I, C, bias, gated);
		down[e] = layer_new(C, I, bias, false);
		in[e].layer.rows = down[e].layer.rows =
		    (size_t)(offsets[e + 1] - offsets[e]);
		ins[e] = in[e].layer;
		downs[e] = down[e].layer;
	}
	kernels->experts(out.at, x.at, ins, downs, E,
	    &(struct nn_bf16_routes){
		rows, slots, weights->at, bias ? own->at : NULL, TOP },
	    act, T, C, I);
	for (size_t t = 0; t < T; t++) {
		double *to = out.ref + t * C;
		for (size_t c = 0; c < C; c++)
			to[c] = bias ? own->ref[c] : 0;
		for (size_t j = 0; j < TOP; j++) {
			int32_t e = chosen[t * TOP + j];
			for (size_t i = 0; i < I; i++)
				inner.ref[i] = (double)bf16_widen(bf16_narrow(
				    (float)layer_value(&in[e], &x, (int)act, t, i, C)));
			for (size_t c = 0; c < C; c++)
				to[c] += weights->ref[t * TOP + j] *
					 layer_value(&down[e], &inner, -1, 0, c, I);
		}
	}
	holds("experts", &out, 8, 16);
	for (size_t e = 0; e < E; e++)
		layer_free(&in[e], C), layer_free(&down[e], I);
	nn_free(rows, T * TOP * 4), nn_free(slots, T * TOP * 4);
	nn_free(found, sizeof offsets);
	free(chosen);
	rounded_free(&x), rounded_free(&out), rounded_free(&inner);
}

static void
check_experts(void)
{
	if (!kernels->experts) /* a device without Hopper's products */
		return;
	check_experts_of(1, 64, 24, true, false, NN_SILU);
	check_experts_of(50, 64, 24, true, true, NN_GELU);
	check_experts_of(50, 24, 64, false, true, NN_GELU);
	check_experts_of(700, 72, 136, true, false, NN_SILU);
	/* an activation that the epilogues lack */
	check_experts_of(50, 64, 24, true, true, NN_TANH);
	check_experts_of(50, 64, 24, false, true, NN_SIGMOID);
}

/* norm(s) w + b of a row, to y */
static void
norm_row(double *y, const double *s, const struct array *w, const struct array *b,
    double eps, enum nn_norm kind, size_t C)
{
	double mean = 0, spread = 0;

	for (size_t c = 0; c < C; c++)
		mean += kind == NN_LAYERNORM ? s[c] / (double)C : 0;
	for (size_t c = 0; c < C; c++)
		spread += (s[c] - mean) * (s[c] - mean) / (double)C;
	for (size_t c = 0; c < C; c++)
		y[c] = (s[c] - mean) / sqrt(spread + eps) *
			   (w->ref[c] + (kind == NN_RMSNORM_PLUS)) +
		       (b ? b->ref[c] : 0);
}

static void
check_norm_of(size_t T, size_t C, enum nn_norm kind, bool added)
{
	size_t ld = C + 24;
	struct rounded x = rounded_new(T * ld, 1), r = rounded_new(T * ld, 1);
	struct rounded y = rounded_new(T * ld, 1), z = rounded_new(T * C, 1);
	struct array *w = array_random(C, 1), *b = array_random(C, 1),
		     *wide = array_random(T * C, 1);
	double *s = mem_new(C, sizeof *s);

	kernels->norm(
	    y.at, x.at, added ? r.at : NULL, ld, w->at, b->at, 1e-5f, kind, T, C);
	for (size_t t = 0; t < T; t++) {
		for (size_t c = 0; c < C; c++)
			s[c] = x.ref[t * ld + c] + (added ? r.ref[t * ld + c] : 0);
		norm_row(y.ref + t * ld, s, w, b, 1e-5, kind, C);
	}
	holds("norm", &y, 2, 0.1);
	for (size_t t = 0; t < T; t++) {
		for (size_t c = 0; c < C; c++)
			wide->ref[t * C + c] += added ? z.ref[t * C + c] : 0;
		norm_row(s, wide->ref + t * C, w, NULL, 1e-5, kind, C);
		memcpy(z.ref + t * C, s, C * sizeof *s);
	}
	kernels->norm_sum(
	    z.at, wide->at, added ? z.at : NULL, w->at, NULL, 1e-5f, kind, T, C);
	holds("norm of the sum", &z, 2, 0.1);
	expect("sum", wide->at, wide->ref, wide->n, 1e-6);
	free(s);
	rounded_free(&x), rounded_free(&r), rounded_free(&y), rounded_free(&z);
}

static void
check_norm(void)
{
	static const size_t columns[] = { 8, 16, 64, 200, 384, 768, 1024, 2048, 8200 };

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		for (enum nn_norm kind = NN_LAYERNORM; kind <= NN_RMSNORM_PLUS; kind++)
			check_norm_of(i < 4 ? 37 : 5, columns[i], kind, (i + kind) % 2);
}

static void
check_heads_of(size_t H, size_t K, size_t D, bool norm, bool turned, enum nn_norm kind)
{
	static const int32_t starts[] = { 0, 1, 10, 13, 40 };
	struct nn_sequences sequences = { .N = 4, .T = 40, .longest = 27 };
	size_t heads = H + K, ld = (heads + K) * D;
	struct rounded x = rounded_new(40 * ld, 1);
	struct array *w[2] = { array_random(D, 1), array_random(D, 1) },
		     *inv = array_random(D / 2, 1);
	const float *at[2] = { norm ? w[0]->at : NULL, norm ? w[1]->at : NULL };
	int32_t *on_device = nn_alloc(sizeof starts);
	double *y = mem_new(D, sizeof *y);

	nn_upload(on_device, starts, sizeof starts);
	sequences.starts = on_device;
	kernels->heads(
	    x.at, ld, at, 1e-6f, kind, turned ? inv->at : NULL, 0, &sequences, H, K, D);
	for (size_t t = 0, n = 0; t < 40; t++)
		for (size_t h = 0; h < heads; h++) {
			double *of = x.ref + t * ld + h * D;
			n += t >= (size_t)starts[n + 1];
			memcpy(y, of, D * sizeof *y);
			if (norm)
				norm_row(y, of, w[h >= H], NULL, 1e-6, kind, D);
			for (size_t i = 0; i < D / 2; i++) {
				double angle =
				    turned ? (double)(t - (size_t)starts[n]) * inv->ref[i]
					   : 0;
				of[i] = y[i] * cos(angle) - y[i + D / 2] * sin(angle);
				of[i + D / 2] =
				    y[i + D / 2] * cos(angle) + y[i] * sin(angle);
			}
		}
	holds("heads", &x, 2, 0.5);
	nn_free(on_device, sizeof starts);
	free(y);
	rounded_free(&x);
}

static void
check_heads(void)
{
	static const size_t sizes[] = { 8, 24, 64, 96, 128, 136, 256 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		check_heads_of(3, 1, sizes[i], true, true, NN_RMSNORM);
		check_heads_of(4, 4, sizes[i], false, true, NN_RMSNORM);
		check_heads_of(5, 2, sizes[i], true, false, NN_RMSNORM_PLUS);
	}
}

static void
check_convert(void)
{
	for (size_t n = 1; n < 5000; n = n * 3 + 1) {
		struct rounded x = rounded_new(n, 3), y = rounded_new(n, 1);
		struct array *wide = array_new(n), *sum = array_random(n, 1);
		kernels->to_f32(wide->at, x.at, n);
		kernels->add_to_f32(sum->at, x.at, n);
		kernels->from_f32(y.at, wide->at, n);
		for (size_t i = 0; i < n; i++) {
			wide->ref[i] = y.ref[i] = x.ref[i];
			sum->ref[i] += x.ref[i];
		}
		expect("widened", wide->at, wide->ref, wide->n, 1e-6);
		expect("sum", sum->at, sum->ref, sum->n, 1e-6);
		holds("rounded", &y, 0, 0);
		rounded_free(&x), rounded_free(&y);
	}
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = { { "convert", check_convert },
		{ "linear", check_linear }, { "gated", check_gated },
		{ "f32", check_f32 }, { "experts", check_experts },
		{ "norm", check_norm }, { "heads", check_heads } };

	kernels = nn_bf16();
	if (!kernels)
		die("this backend has no bf16 activations");
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
