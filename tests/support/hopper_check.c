/*
 * hopper_check - compare hopper_gemm with sums in double; also memory that it must not write
 */
#include "nn/cuda/gemm_hopper.h"

#include "nn_check.h"
#include "stream/tensor.h"

enum { POISON = 0x7fc5, MOST = 200 }; /* a NaN; parts */

/* A bf16 matrix in host and in device memory. */
struct narrow {
	uint16_t *host;
	void *at;
	size_t n;
};

static struct narrow
narrow_new(size_t n, double scale)
{
	struct narrow x = { mem_new(n, sizeof *x.host), nn_alloc(n * sizeof *x.host), n };

	for (size_t i = 0; i < n; i++)
		x.host[i] = scale > 0 ? bf16_narrow((float)(rng_normal(&chance) * scale))
				      : POISON;
	nn_upload(x.at, x.host, n * sizeof *x.host);
	return x;
}

static void
narrow_free(struct narrow x)
{
	nn_free(x.at, x.n * sizeof *x.host);
	free(x.host);
}

static unsigned wide; /* of a tile */

static double
activation(enum nn_act act, double x)
{
	switch (act) {
	case NN_GELU: return x / 2 * erfc(-x / sqrt(2));
	case NN_GELU_TANH:
		return x / (1 + exp(-2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case NN_SILU: return x / (1 + exp(-x));
	default: return x > 0 ? x : 0;
	}
}

static double
sum_of(const uint16_t *x, const uint16_t *w, const struct array *bias, size_t o, size_t C)
{
	double sum = bias ? bias->ref[o] : 0;

	for (size_t c = 0; c < C; c++)
		sum += (double)bf16_widen(x[c]) * (double)bf16_widen(w[c]);
	return sum;
}

/* One product: `count` parts of O outputs each, side by side or one below the other. */
struct shape {
	size_t rows[MOST], count, C, O;
	bool beside, bias;
	enum hopper_epilogue epilogue;
	enum nn_act act;
};

static void
product_case(const struct shape *s)
{
	size_t R = 0, ldx = (s->C + 15) / 8 * 8, ldw = (s->C + 7) / 8 * 8;
	size_t ldy = (s->beside ? s->count : 1) * s->O + 16;
	struct hopper_part parts[MOST] = { 0 };
	struct narrow w[MOST], gate[MOST];
	struct array *bias = s->bias ? array_random(s->O, 1) : NULL;

	for (size_t i = 0; i < s->count; i++) {
		w[i] = narrow_new(s->O * ldw, 1 / sqrt((double)s->C));
		gate[i] = narrow_new(s->O * ldw, 3 / sqrt((double)s->C));
		parts[i] = (struct hopper_part){ w[i].at, gate[i].at,
			bias ? bias->at : NULL, bias ? bias->at : NULL, s->rows[i], s->O,
			8 + (s->beside ? i * s->O : 0), s->beside && i };
		R += parts[i].again ? 0 : s->rows[i];
	}
	struct narrow x = narrow_new(R * ldx + 8, 1), y = narrow_new((R + 1) * ldy, 0);
	struct hopper_gemm p = { y.at, x.at, ldy, ldx, ldw, s->C, parts, s->count,
		s->epilogue, s->act, s->count > 50 ? 0 : wide };
	if (!hopper_supports(&p))
		die("hopper_supports: false");
	hopper_gemm(&p);
	nn_download(y.host, y.at, y.n * sizeof *y.host);
	for (size_t i = 0, row = 0; i < s->count; i++) {
		row -= parts[i].again ? s->rows[i] : 0;
		for (size_t r = 0; r < s->rows[i]; r++, row++)
			for (size_t o = 0; o < s->O; o++) {
				const uint16_t *from = x.host + row * ldx;
				uint16_t *at = y.host + row * ldy + parts[i].column + o;
				double want =
				    sum_of(from, w[i].host + o * ldw, bias, o, s->C);
				double got = (double)bf16_widen(*at), slope = 1.2;
				if (s->epilogue == HOPPER_ACTIVATE)
					want = activation(s->act, want);
				if (s->epilogue == HOPPER_GATED) {
					double g = sum_of(
					    from, gate[i].host + o * ldw, bias, o, s->C);
					slope = fabs(want) + fabs(g);
					want *= activation(s->act, g);
				}
				double error = fabs(got - want);
				if (!(error <=
					fabs(want) * 0x1.2p-8 + 2e-6 * (slope + 1)) &&
				    !failures++)
					fprintf(stderr,
					    "part %zu, row %zu, output %zu: %g instead of %g\n",
					    i, r, o, got, want);
				*at = POISON;
			}
	}
	for (size_t i = 0; i < y.n; i++)
		if (y.host[i] != POISON && !failures++)
			fprintf(
			    stderr, "written: row %zu, column %zu\n", i / ldy, i % ldy);
	for (size_t i = 0; i < s->count; i++) {
		narrow_free(w[i]);
		narrow_free(gate[i]);
	}
	narrow_free(x);
	narrow_free(y);
	arrays_free();
}

static void
epilogues_case(struct shape s)
{
	static const enum nn_act acts[] = { NN_GELU, NN_GELU_TANH, NN_SILU, NN_RELU };

	s.epilogue = HOPPER_PLAIN;
	product_case(&s);
	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
		s.act = acts[i];
		s.epilogue = HOPPER_ACTIVATE;
		product_case(&s);
		s.epilogue = HOPPER_GATED;
		product_case(&s);
	}
}

/* Tiles that are not full in any direction; fewer and more steps than stages. */
static void
check_sizes(void)
{
	static const size_t sizes[][3] = { { 1, 8, 8 }, { 127, 64, 136 },
		{ 128, 72, 192 }, { 129, 200, 264 }, { 300, 520, 72 },
		{ 65, 1031, 400 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct shape s = { .rows = { sizes[i][0] },
			.count = 1,
			.C = sizes[i][1],
			.O = sizes[i][2],
			.bias = i % 2,
			.act = NN_GELU };
		product_case(&s);
		s.epilogue = i % 2 ? HOPPER_ACTIVATE : HOPPER_GATED;
		product_case(&s);
	}
}

static void
check_epilogues(void)
{
	epilogues_case(
	    (struct shape){ .rows = { 40 }, .count = 1, .C = 64, .O = 72, .bias = true });
}

static void
check_beside(void)
{
	struct shape s = {
		.rows = { 150, 150, 150 }, .count = 3, .C = 96, .O = 264, .beside = true
	};

	product_case(&s);
	/* more parts than one launch computes */
	s.count = 70;
	s.O = 8;
	for (size_t i = 0; i < s.count; i++)
		s.rows[i] = 20;
	product_case(&s);
}

static void
check_groups(void)
{
	struct shape s = { .count = 7,
		.rows = { 3, 0, 130, 1, 0, 257, 0 },
		.C = 80,
		.O = 200,
		.bias = true,
		.epilogue = HOPPER_GATED,
		.act = NN_SILU };

	product_case(&s);
	/* more parts than one launch computes */
	s.epilogue = HOPPER_PLAIN;
	s.count = 100;
	s.O = 40;
	for (size_t i = 0; i < s.count; i++)
		s.rows[i] = rng_below(&chance, 4);
	product_case(&s);
}

static const struct check checks[] = {
	{ "sizes", check_sizes },
	{ "epilogues", check_epilogues },
	{ "beside", check_beside },
	{ "groups", check_groups },
};

int
main(int argc, char **argv)
{
	int status = 0;

	for (wide = 128; wide <= 192; wide += 64)
		status |= check_main(argc, argv, checks, sizeof checks / sizeof *checks);
	return status;
}
