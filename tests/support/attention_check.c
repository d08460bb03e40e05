/*
 * attention_check NAME... - attention whose products may be of bf16, forward and backward, or int8, forward
 *
 * q, k, v and the gradient of the result have values that bf16 represents, so that rounding does not change them.  What
 * remains is the rounding of p and of dscore, each by at most 2^-8 of itself; the bound of a result is the sum over its terms.
 * By int8 q, k and v are wrong by half a step of their rows, and p by half of 2^-14.
 */
#include "nn_check.h"
#include "stream/tensor.h"

/* attention of bf16 arrays (lib/nn/cuda/attention_bf16.h); the CPU backend lacks it, and it alone has int8 */
__attribute__((weak)) void attention_bf16(uint16_t *out, const uint16_t *q,
    const uint16_t *k, const uint16_t *v, const struct nn_attention *a);

/* To bf16. */
static double
rounded(double x)
{
	int exponent;
	double fraction = frexp(x, &exponent);

	return ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

static struct array *
array_rounded(size_t n)
{
	struct array *x = array_random(n, 1);

	for (size_t i = 0; i < n; i++)
		x->ref[i] = rounded(x->ref[i]);
	array_upload(x);
	return x;
}

enum { Q, K, V, OUT, DOUT, DQ, DK, DV, BIAS, DBIAS, ARRAYS };

/* The error bound of each element is the sum of the bounds of its terms; i8: that of OUT by int8. */
struct attended {
	struct array *x[ARRAYS];
	double *error[ARRAYS], *i8;
};

/* The greatest relative rounding error of bf16, which has 8 significant bits. */
static const double HALF = 1.0 / 256;

/* Half a step of u8 that has these D values and 0. */
static double
half_step(const double *x, size_t ld, size_t n)
{
	double least = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, x[i * ld]);
		most = fmax(most, x[i * ld]);
	}
	return (most - least) / 255 / 2;
}

/* The bound of a score of query i by int8: half a step of each q times its k, and of each k, less the mean of up to 128, times
 * its q. */
static double
score_error(const struct nn_attention *a, const struct attended *s, size_t first,
    size_t end, size_t q, size_t kv)
{
	size_t D = a->D, some = end - first < 128 ? end - first : 128;
	const double *query = s->x[Q]->ref + q;
	double mean[NN_MAX_HEAD] = { 0 }, worst = 0, most = 0;

	for (size_t d = 0; d < D; d++)
		most = fmax(most, fabs(query[d]));
	for (size_t j = first; j < first + some; j++)
		for (size_t d = 0; d < D; d++)
			mean[d] += s->x[K]->ref[j * a->ldkv + kv + d] / (double)some;
	for (size_t j = first; j < end; j++) {
		double key[NN_MAX_HEAD], sum = 0;
		for (size_t d = 0; d < D; d++)
			key[d] = s->x[K]->ref[j * a->ldkv + kv + d] - mean[d];
		double off = half_step(key, 1, D);
		for (size_t d = 0; d < D; d++)
			sum += fabs(query[d]) * off + (fabs(key[d]) + off) * most / 254;
		worst = fmax(worst, sum);
	}
	return worst * (a->scale != 0 ? (double)a->scale : 1 / sqrt((double)D));
}

/* The bound of query i's results by int8, of p[first..end-1] and the exact results. */
static void
bound_i8(const struct nn_attention *a, struct attended *s, const double *p, size_t first,
    size_t end, size_t i, size_t h)
{
	size_t D = a->D, kv = h / (a->H / a->K) * D, out = (i * a->H + h) * D;
	double score = score_error(a, s, first, end, i * a->ldq + h * D, kv);

	for (size_t d = 0; d < D; d++) {
		const double *v = s->x[V]->ref + first * a->ldkv + kv + d;
		double bound = half_step(v, a->ldkv, end - first);
		for (size_t j = first; j < end; j++)
			bound +=
			    p[j] * expm1(2 * score) *
				fabs(v[(j - first) * a->ldkv] - s->x[OUT]->ref[out + d]) +
			    fabs(v[(j - first) * a->ldkv]) / 32766;
		s->i8[out + d] = bound;
	}
}

/* Query i of head h, which sees the keys from..to-1 of the sequence first..end-1 (nn_check_real.c). */
static void
attend(const struct nn_attention *a, struct attended *s, size_t first, size_t end,
    size_t i, size_t h)
{
	size_t D = a->D, kv = h / (a->H / a->K) * D, at = i * a->ldq + h * D,
	       longest = a->sequences.longest, out = (i * a->H + h) * D;
	double *p = mem_zero(end, sizeof *p), *g = mem_zero(end, sizeof *g);
	double sum = 0, along = 0;
	double scale = a->scale != 0 ? (double)a->scale : 1 / sqrt((double)D);
	size_t diagonal = 2 * first * a->H + (2 * h + 1) * (end - first) + i;

	for (size_t j = first; j < end; j++) {
		size_t gap = i > j ? i - j : j - i, key = j * a->ldkv + kv;
		double score =
		    a->bias ? s->x[BIAS]->ref[(2 * h + 1) * longest + i - j] : 0;
		for (size_t d = 0; d < D; d++) {
			score += s->x[Q]->ref[at + d] * s->x[K]->ref[key + d] * scale;
			g[j] += s->x[DOUT]->ref[out + d] * s->x[V]->ref[key + d];
		}
		if ((!a->causal || j <= i) && (!a->window || gap <= a->window))
			sum += p[j] = exp(score);
	}
	for (size_t j = first; j < end; j++)
		along += (p[j] /= sum) * g[j];
	/* delta is computed from the rounded p: each term of its sum has an error up to HALF of itself */
	double astray = 0;
	for (size_t j = first; j < end; j++)
		astray += HALF * p[j] * fabs(g[j]);
	for (size_t j = first; j < end; j++) {
		double slope = p[j] * (g[j] - along), off = p[j] * astray;
		s->x[DBIAS]->ref[diagonal - j] += slope;
		s->error[DBIAS][diagonal - j] += off;
		for (size_t d = 0; d < D; d++) {
			size_t key = j * a->ldkv + kv + d;
			double q = s->x[Q]->ref[at + d], k = s->x[K]->ref[key];
			double v = s->x[V]->ref[key], dout = s->x[DOUT]->ref[out + d];
			double most = (off + HALF * fabs(slope)) * scale;
			s->x[OUT]->ref[out + d] += p[j] * v;
			s->x[DQ]->ref[at + d] += slope * scale * k;
			s->x[DK]->ref[key] += slope * scale * q;
			s->x[DV]->ref[key] += p[j] * dout;
			s->error[OUT][out + d] += HALF * p[j] * fabs(v);
			s->error[DQ][at + d] += most * fabs(k);
			s->error[DK][key] += most * fabs(q);
			s->error[DV][key] += HALF * p[j] * fabs(dout);
		}
	}
	bound_i8(a, s, p, first, end, i, h);
	free(p);
	free(g);
}

/* Compares within the rounding error, and 1e-5 more for sums of floats. */
static void
expect_near(const char *what, const struct attended *s, int which)
{
	const struct array *x = s->x[which];
	float *got = mem_new(x->n, sizeof *got);
	double worst = 0;
	size_t where = 0;

	nn_download(got, x->at, x->n * sizeof *got);
	for (size_t i = 0; i < x->n; i++) {
		double off = fabs((double)got[i] - x->ref[i]) /
			     (s->error[which][i] + 1e-5 * (1 + fabs(x->ref[i])));
		if (!(off <= worst)) {
			worst = off;
			where = i;
		}
	}
	if (!(worst <= 1)) {
		printf("%s[%zu]: %.9g, but %.9g is right, give or take %.2g\n", what,
		    where, (double)got[where], x->ref[where], s->error[which][where]);
		failures++;
	} else if (verbosity > 0)
		printf("%s: %.2f of what may be\n", what, worst);
	free(got);
}

struct shape {
	const int32_t *starts;
	size_t N, H, K, D, window;
	bool causal, biased;
};

static struct attended
attended_of(const struct shape *shape, struct nn_attention *a)
{
	size_t T = (size_t)shape->starts[shape->N], H = a->H, most = a->sequences.longest;
	const size_t sizes[ARRAYS] = { T * a->ldq, T * a->ldkv, T * a->ldkv, T * H * a->D,
		T * H * a->D, T * a->ldq, T * a->ldkv, T * a->ldkv, 2 * most * H,
		2 * T * H };
	struct attended s;

	for (int i = 0; i < ARRAYS; i++) {
		bool given = i <= V || i == DOUT || i == BIAS;
		s.x[i] = given ? array_rounded(sizes[i]) : array_new(sizes[i]);
		s.error[i] = mem_zero(sizes[i], sizeof(double));
	}
	if (shape->biased)
		a->bias = s.x[BIAS]->at;
	s.i8 = mem_zero(sizes[OUT], sizeof(double));
	for (size_t n = 0; n < shape->N; n++)
		for (int32_t i = shape->starts[n]; i < shape->starts[n + 1]; i++)
			for (size_t h = 0; h < H; h++)
				attend(a, &s, (size_t)shape->starts[n],
				    (size_t)shape->starts[n + 1], (size_t)i, h);
	return s;
}

/* Memory between the heads of a row stays unchanged. */
static void
expect_between(const struct attended *s, int which, size_t ld, size_t used)
{
	const struct array *x = s->x[which];
	float *got = mem_new(x->n, sizeof *got);

	nn_download(got, x->at, x->n * sizeof *got);
	for (size_t i = 0; i < x->n; i++)
		if (i % ld >= used && got[i] != 0) {
			printf("what lies beside the heads is written\n");
			failures++;
			break;
		}
	free(got);
}

/* A copy in bf16, in memory of the backend. */
static uint16_t *
narrow(const struct array *x)
{
	uint16_t *host = mem_new(x->n, sizeof *host), *at = nn_alloc(x->n * sizeof *at);
	float *wide = mem_new(x->n, sizeof *wide);

	nn_download(wide, x->at, x->n * sizeof *wide);
	tensor_from_f32(host, DTYPE_BF16, wide, x->n);
	nn_upload(at, host, x->n * sizeof *at);
	free(host);
	free(wide);
	return at;
}

/* Compares attention_bf16 of the same arrays, whose results are rounded once more. */
static void
expect_narrow(const struct attended *s, const struct nn_attention *a)
{
	const struct array *out = s->x[OUT];
	uint16_t *x[4], *got = mem_new(out->n, sizeof *got);

	for (int i = 0; i < 4; i++)
		x[i] = narrow(s->x[i]);
	attention_bf16(x[OUT], x[Q], x[K], x[V], a);
	nn_download(got, x[OUT], out->n * sizeof *got);
	for (size_t i = 0; i < out->n; i++) {
		double y = (double)bf16_widen(got[i]), right = out->ref[i];
		double most = s->error[OUT][i] + HALF * fabs(right) + 1e-5;
		if (!(fabs(y - right) <= most)) {
			printf(
			    "in bf16, out[%zu]: %.9g, but %.9g is right\n", i, y, right);
			failures++;
			break;
		}
	}
	for (int i = 0; i < 4; i++)
		nn_free(x[i], s->x[i]->n * sizeof *got);
	free(got);
}

/* A single query gives the same bits as all queries together. */
static void
expect_queries(const struct attended *s, const struct nn_attention *all)
{
	size_t N = all->sequences.N, row = all->H * all->D;
	struct array *full = array_new(s->x[OUT]->n), *few = array_new(full->n);
	int32_t *starts = mem_new(N + 1, sizeof *starts),
		*query = mem_new(N, sizeof *query);
	struct nn_attention one = *all;

	nn_download(starts, all->sequences.starts, (N + 1) * sizeof *starts);
	for (int kind = 0; kind < 9; kind++) {
		for (size_t i = 0; i < N; i++) {
			int32_t length = starts[i + 1] - starts[i];
			query[i] = kind % 3 == 1 ? length - 1 : 0;
			if (kind % 3 == 2 && length)
				query[i] = (int32_t)(7 * i + 40) % length;
		}
		one.bf16 = kind < 3;
		one.i8 = kind >= 6;
		one.queries = NULL;
		nn_attention(full->at, NULL, s->x[Q]->at, s->x[K]->at, s->x[V]->at, &one);
		one.queries = device_ints(query, N);
		nn_attention(few->at, NULL, s->x[Q]->at, s->x[K]->at, s->x[V]->at, &one);
		for (size_t i = 0; i < N; i++) {
			size_t at = (size_t)(starts[i] + query[i]) * row;
			if (starts[i] == starts[i + 1])
				continue;
			expect_bits_of("of one query", few->at + at, full->at + at, row);
		}
	}
	free(starts);
	free(query);
}

/* By int8. */
static void
expect_i8(struct attended *s, const struct nn_attention *bf16)
{
	struct nn_attention a = *bf16;
	double *error = s->error[OUT];

	if (attention_bf16)
		return;
	a.i8 = true;
	nn_attention(s->x[OUT]->at, NULL, s->x[Q]->at, s->x[K]->at, s->x[V]->at, &a);
	s->error[OUT] = s->i8;
	expect_near("out by int8", s, OUT);
	s->error[OUT] = error;
}

/* Rows have `more` columns beside their heads. */
static void
shape_case(const struct shape *shape, size_t more)
{
	size_t wide = shape->H * shape->D, narrow = shape->K * shape->D;
	struct nn_attention a = { .sequences = sequences_at(shape->starts, shape->N),
		.H = shape->H,
		.K = shape->K,
		.D = shape->D,
		.ldq = wide + more,
		.ldkv = narrow + more,
		.causal = shape->causal,
		.window = shape->window,
		.bf16 = true };
	struct attended s = attended_of(shape, &a);
	struct array *lse = array_new((size_t)shape->starts[shape->N] * a.H);
	struct array *again = array_new(s.x[OUT]->n);
	float *dbias = shape->biased ? s.x[DBIAS]->at : NULL;

	nn_attention(s.x[OUT]->at, lse->at, s.x[Q]->at, s.x[K]->at, s.x[V]->at, &a);
	nn_attention(again->at, NULL, s.x[Q]->at, s.x[K]->at, s.x[V]->at, &a);
	nn_attention_back(s.x[DQ]->at, s.x[DK]->at, s.x[DV]->at, dbias, s.x[DOUT]->at,
	    s.x[OUT]->at, lse->at, s.x[Q]->at, s.x[K]->at, s.x[V]->at, &a);
	expect_near("out", &s, OUT);
	memcpy(again->ref, s.x[OUT]->ref, again->n * sizeof *again->ref);
	s.x[OUT] = again; /* without lse; other kernels may compute this */
	expect_near("out without lse", &s, OUT);
	expect_i8(&s, &a);
	if (attention_bf16)
		expect_narrow(&s, &a);
	expect_queries(&s, &a);
	expect_near("dq", &s, DQ);
	expect_near("dk", &s, DK);
	expect_near("dv", &s, DV);
	if (shape->biased)
		expect_near("dbias", &s, DBIAS);
	expect_between(&s, DQ, a.ldq, wide);
	expect_between(&s, DK, a.ldkv, narrow);
	expect_between(&s, DV, a.ldkv, narrow);
	for (int i = 0; i < ARRAYS; i++)
		free(s.error[i]);
	free(s.i8);
	arrays_free();
}

/* Lengths just below and above the sizes of warps, teams and blocks. */
static const int32_t lengths[] = { 0, 1, 16, 32, 49, 49, 112, 176, 241, 368, 497 };

static void
check_lengths(void)
{
	size_t N = sizeof lengths / sizeof *lengths - 1;

	shape_case(&(struct shape){ lengths, N, 3, 3, 32, 0, false, false }, 0);
	shape_case(&(struct shape){ lengths, N, 2, 1, 64, 0, true, false }, 4);
	shape_case(&(struct shape){ lengths, N, 4, 2, 8, 7, false, true }, 1);
}

/* All sizes of tiles, with heads that fill them and heads that do not. */
static void
check_sizes(void)
{
	static const int32_t starts[] = { 0, 17, 87 };
	static const size_t sizes[] = { 1, 6, 8, 33, 64, 80, 96, 128, 250, 256 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		shape_case(&(struct shape){ starts, 2, 2, 1, sizes[i], i % 3 * 12,
			       i % 2 == 1, i % 3 == 1 },
		    i % 4 == 3 ? 3 : 0);
}

static void
check_masks(void)
{
	static const int32_t starts[] = { 0, 150, 163 };
	static const size_t windows[] = { 0, 1, 15, 64, 100, 1000 };

	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
		for (int kind = (int)(i % 2); kind < 4; kind += 2)
			shape_case(
			    &(struct shape){ starts, 2, kind & 2 ? 2 : 1, 1, 16,
				windows[i], kind & 1, (kind & 1) != (kind & 2) / 2 },
			    0);
}

/* Lengths that attention_hopper.cu computes beside lengths that it does not. */
static void
check_long(void)
{
	static const int32_t starts[] = { 0, 385, 402, 850 };

	shape_case(&(struct shape){ starts, 3, 2, 1, 64, 0, true, false }, 0);
	shape_case(&(struct shape){ starts, 3, 1, 1, 64, 130, false, false }, 8);
	shape_case(&(struct shape){ starts, 3, 2, 2, 128, 0, false, false }, 0);
	shape_case(&(struct shape){ starts, 3, 1, 1, 128, 90, true, false }, 0);
}

/* One sequence with one head. */
enum { HEAD = 32 };
struct single {
	struct nn_attention a;
	struct array *q, *k, *v, *out;
};

static struct single
single_of(const int32_t *starts)
{
	size_t n = (size_t)starts[1] * HEAD;

	return (struct single){ .a = { .sequences = sequences_at(starts, 1),
				    .H = 1,
				    .K = 1,
				    .D = HEAD,
				    .ldq = HEAD,
				    .ldkv = HEAD },
		.q = array_random(n, 1),
		.k = array_random(n, 1),
		.v = array_random(n, 1),
		.out = array_new(n) };
}

/* The result, freed by the caller. */
static float *
single_attention(const struct single *s)
{
	float *got = mem_new(s->out->n, sizeof *got);

	nn_attention(s->out->at, NULL, s->q->at, s->k->at, s->v->at, &s->a);
	nn_download(got, s->out->at, s->out->n * sizeof *got);
	return got;
}

/* By int8, keys that share a large component, as those of layers with biases do, are no less exact. */
static void
check_constant(void)
{
	static const int32_t starts[] = { 0, 300 };
	struct single s = single_of(starts);
	float *exact = single_attention(&s);

	for (size_t i = 0; i < s.out->n; i++)
		s.out->ref[i] = (double)exact[i];
	for (size_t i = 0; i < s.k->n; i += HEAD)
		s.k->ref[i] += 256;
	array_upload(s.k);
	s.a.i8 = true;
	free(exact);
	free(single_attention(&s));
	expect(
	    "out of keys that share a component", s.out->at, s.out->ref, s.out->n, 0.02);
}

/* Scores that are capped are computed in f32. */
static void
check_capped(void)
{
	static const int32_t starts[] = { 0, 150 };
	struct single s = single_of(starts);

	if (attention_bf16)
		return;
	s.a.softcap = 0.5f;
	float *exact = single_attention(&s);
	for (int kind = 0; kind < 2; kind++) {
		s.a.bf16 = kind == 0;
		s.a.i8 = kind == 1;
		free(single_attention(&s));
		expect_bits_of("of capped scores", s.out->at, exact, s.out->n);
	}
	free(exact);
}

/* By int8, the result of a query that is not finite is NaN, and so is the component of a value that is not; no other number is. */
static void
check_not_finite(void)
{
	enum { QUERY = 77, VALUE = 140, COLUMN = 5 };
	static const int32_t starts[] = { 0, 200 };
	const float wrong[] = { NAN, INFINITY, -INFINITY };

	if (attention_bf16)
		return;
	for (int kind = 0; kind < 6; kind++) {
		struct single s = single_of(starts);
		bool query = kind < 3;
		struct array *x = query ? s.q : s.v;
		x->ref[query ? QUERY * HEAD : VALUE * HEAD + COLUMN] =
		    (double)wrong[kind % 3];
		array_upload(x);
		s.a.i8 = true;
		float *got = single_attention(&s);
		for (size_t i = 0; i < s.out->n; i++)
			if (isnan(got[i]) !=
			    (query ? i / HEAD == QUERY : i % HEAD == COLUMN)) {
				printf(
				    "kind %d: out[%zu] is %g\n", kind, i, (double)got[i]);
				failures++;
				break;
			}
		free(got);
	}
}

/* A sequence gives the same bits in every batch. */
static void
check_company(void)
{
	static const int32_t alone[] = { 0, 63 }, few[] = { 0, 20 };
	static const int32_t seen[] = { 1, 15, 16, 17, 0, 20, 64, 1, 1, 129 };
	size_t N = sizeof lengths / sizeof *lengths - 1, H = 5, D = 48;
	size_t T = (size_t)lengths[N], first = 49 * H * D;
	struct array *q = array_random(T * H * D, 1), *k = array_random(T * H * D, 1),
		     *v = array_random(T * H * D, 1), *all = array_new(T * H * D),
		     *one = array_new(63 * H * D);
	struct nn_attention a = { .H = H, .K = H, .D = D, .ldq = H * D, .ldkv = H * D };

	for (int kind = 0; kind < 3; kind++) {
		a.bf16 = kind == 1;
		a.i8 = kind == 2;
		a.sequences = sequences_at(lengths, N);
		nn_attention(all->at, NULL, q->at, k->at, v->at, &a);
		a.sequences = sequences_at(alone, 1);
		nn_attention(
		    one->at, NULL, q->at + first, k->at + first, v->at + first, &a);
		expect_bits_of("alone", one->at, all->at + first, one->n);
		a.sequences = sequences_at(lengths, N);
		a.sequences.attended = device_ints(seen, N);
		nn_attention(all->at, NULL, q->at, k->at, v->at, &a);
		a.sequences = sequences_at(few, 1);
		nn_attention(
		    one->at, NULL, q->at + first, k->at + first, v->at + first, &a);
		expect_bits_of("of keys seen", one->at, all->at + first, 20 * H * D);
	}
	/* a long sequence gives the same bits among short ones */
	static const int32_t longer[] = { 0, 270 }, mixed[] = { 0, 270, 271, 300 };
	for (size_t causal = 0; causal < 2; causal++) {
		a.causal = causal;
		a.window = causal * 100;
		a.sequences = sequences_at(longer, 1);
		nn_attention(all->at, NULL, q->at, k->at, v->at, &a);
		a.sequences = sequences_at(mixed, 3);
		struct array *among = array_new(300 * H * D);
		nn_attention(among->at, NULL, q->at, k->at, v->at, &a);
		expect_bits_of("of a long one", among->at, all->at, 270 * H * D);
	}
	a.causal = false;
	a.window = 0;
	/* keys that may not be attended to do not count, as if they were not there */
	static const int32_t first_keys[] = { 100 }, as_many[] = { 0, 100 };
	struct array *first_rows = array_new(100 * H * D);
	for (int kind = 0; kind < 3; kind++) {
		a.bf16 = kind == 1;
		a.i8 = kind == 2;
		a.sequences = sequences_at(longer, 1);
		a.sequences.attended = device_ints(first_keys, 1);
		nn_attention(all->at, NULL, q->at, k->at, v->at, &a);
		a.sequences = sequences_at(as_many, 1);
		nn_attention(first_rows->at, NULL, q->at, k->at, v->at, &a);
		expect_bits_of(
		    "of the first keys", first_rows->at, all->at, first_rows->n);
	}
	/* queries without a visible key in their window give zeros, whatever the memory held */
	static const int32_t first_only[] = { 1 };
	struct array *none = array_new(220 * H * D);
	a.causal = false;
	a.window = 49;
	a.sequences = sequences_at(longer, 1);
	a.sequences.attended = device_ints(first_only, 1);
	nn_attention(all->at, NULL, q->at, k->at, v->at, &a);
	expect("attention to no key", all->at + 50 * H * D, none->ref, none->n, 1e-30);
	a.window = 0;
	/* no sequences */
	a.sequences = sequences_at(alone, 0);
	nn_attention(one->at, NULL, q->at, k->at, v->at, &a);
	nn_attention_back(one->at, one->at, one->at, NULL, q->at, q->at, q->at, q->at,
	    k->at, v->at, &a);
}

int
main(int argc, char **argv)
{
	static const struct check checks[] = { { "lengths", check_lengths },
		{ "sizes", check_sizes }, { "masks", check_masks },
		{ "company", check_company }, { "long", check_long },
		{ "constant", check_constant }, { "capped", check_capped },
		{ "not-finite", check_not_finite } };

	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
