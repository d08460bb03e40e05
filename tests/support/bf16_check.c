/*
 * bf16_check NAME... - the kernels of nn/bf16.h against loops in double: convert linear gated norm heads
 *
 * Inputs are drawn and rounded to bf16, so that they are exact; a result may be off by what two roundings to bf16 cost.
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

/* x holds what `ref` says, to so many roundings to bf16 of it or of `scale`. */
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
	}
	return x;
}

static void
check_linear_of(size_t T, size_t C, size_t O, bool bias, int act)
{
	struct rounded x = rounded_new(T * C, 1), w = rounded_new(O * C, 0.3);
	size_t ld = act < 0 ? O + 16 : O;
	struct rounded y = rounded_new(T * ld, 1);
	struct array *b = bias ? array_random(O, 0.5) : NULL;
	struct nn_matrix matrix = packed(&w, O, C);
	enum nn_act of = (enum nn_act)(act < 0 ? 0 : act);

	kernels->linear(
	    y.at, ld, x.at, matrix, b ? b->at : NULL, act < 0 ? NULL : &of, T, C, O);
	for (size_t t = 0; t < T; t++)
		for (size_t o = 0; o < O; o++) {
			double sum = row_product(&x, &w, b, t, o, C);
			y.ref[t * ld + o] = act < 0 ? sum : act_of(of, sum);
		}
	/* what lies beside the columns stays */
	holds("linear", &y, 4, 2);
	nn_free((void *)matrix.at, nn_packed_size(DTYPE_BF16, O, C));
	rounded_free(&x), rounded_free(&w), rounded_free(&y);
}

static void
check_linear(void)
{
	static const size_t rows[] = { 1, 7, 64, 129, 300 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		check_linear_of(rows[i], 64, 24, i % 2, -1);
		check_linear_of(rows[i], 136, 264, true, (int)i % 6);
		check_linear_of(rows[i], 8, 8, true, NN_GELU);
	}
	for (int act = NN_GELU; act <= NN_RELU; act++)
		check_linear_of(40, 32, 48, true, act);
}

static void
check_gated_of(size_t T, size_t C, size_t I, bool bias, enum nn_act act)
{
	struct rounded x = rounded_new(T * C, 1), up = rounded_new(I * C, 0.3);
	struct rounded gate = rounded_new(I * C, 0.3), y = rounded_new(T * I, 1);
	struct array *b[2] = { bias ? array_random(I, 0.5) : NULL,
		bias ? array_random(I, 0.5) : NULL };
	const float *at[2] = { bias ? b[0]->at : NULL, bias ? b[1]->at : NULL };
	struct nn_matrix ups = packed(&up, I, C), gates = packed(&gate, I, C);

	kernels->linear_gated(y.at, x.at, ups, gates, at, act, T, C, I);
	for (size_t t = 0; t < T; t++)
		for (size_t i = 0; i < I; i++)
			y.ref[t * I + i] =
			    row_product(&x, &up, b[0], t, i, C) *
			    act_of(act, row_product(&x, &gate, b[1], t, i, C));
	/* three roundings, of factors that are as large as their product's scale */
	holds("gated", &y, 6, 8);
	nn_free((void *)ups.at, nn_packed_size(DTYPE_BF16, I, C));
	nn_free((void *)gates.at, nn_packed_size(DTYPE_BF16, I, C));
	rounded_free(&x), rounded_free(&up), rounded_free(&gate), rounded_free(&y);
}

static void
check_gated(void)
{
	check_gated_of(1, 8, 8, false, NN_SILU);
	check_gated_of(130, 72, 136, true, NN_SILU);
	check_gated_of(257, 64, 264, false, NN_GELU);
	check_gated_of(70, 128, 40, true, NN_GELU_TANH);
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
		{ "norm", check_norm }, { "heads", check_heads } };

	kernels = nn_bf16();
	if (!kernels)
		die("this backend has no bf16 activations");
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
