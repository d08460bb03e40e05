/*
 * nn_check_tokens NAME... - compare the functions of nn.h around the layers with plain loops in double
 *
 * Positions, embeddings, pooling, losses, optimizer steps, vectors; see nn_check.c.
 */
#include "nn_check.h"

/* Rotary positions, embeddings, pooling. ------------------------------------------- */

/* step: from one sequence's frequencies to the next, or 0: all share them. */
static void
check_rotary_of(const char *name, size_t step)
{
	static const int32_t starts[] = { 0, 4, 5, 3000 };
	size_t T = 3000, H = 3, D = 10;
	struct array *x = array_random(T * H * D, 1), *y = array_new(T * H * D);
	struct array *inv = array_new(3 * D), *before = array_new(T * H * D);
	struct nn_sequences at = sequences_at(starts, 3);

	for (size_t i = 0; i < 3 * D; i++)
		inv->ref[i] = pow(10000 + 100 * (double)i, -0.02 * (double)i);
	array_upload(inv);
	memcpy(before->ref, x->ref, T * H * D * sizeof *x->ref);
	for (size_t t = 0; t < T; t++)
		for (size_t h = 0; h < H; h++)
			for (size_t i = 0; i < D / 2; i++) {
				size_t n = t < 4 ? 0 : t < 5 ? 1 : 2;
				size_t place = t - (size_t)starts[n];
				double angle = (double)((float)place *
							(float)inv->ref[n * step + i]);
				double *pair = x->ref + (t * H + h) * D + i,
				       *to = y->ref + (pair - x->ref);
				to[0] = pair[0] * cos(angle) - pair[D / 2] * sin(angle);
				to[D / 2] =
				    pair[D / 2] * cos(angle) + pair[0] * sin(angle);
			}
	nn_rotary(x->at, H * D, inv->at, step, &at, H, D, 1);
	expect(name, x->at, y->ref, T * H * D, 1e-6);
	nn_rotary(x->at, H * D, inv->at, step, &at, H, D, -1);
	expect("rotary back", x->at, before->ref, T * H * D, 1e-6);
}

static void
check_rotary(void)
{
	check_rotary_of("rotary", 0);
	check_rotary_of("rotary, frequencies by sequence", 7);
}

/* rows_of: rows of the positions; NULL: counted from each sequence's start; types_of: rows of the types; NULL: 0 */
static void
check_embed_of(const char *name, const int32_t *rows_of, const int32_t *types_of)
{
	static const int32_t starts[] = { 0, 3, 3, 7 }, ids[] = { 4, 0, 4, 1, 4, 2, 1 };
	static const int32_t counted[] = { 0, 1, 2, 0, 1, 2, 3 };
	size_t C = 70, V = 5, T = 7;
	struct array *tokens = array_random(V * C, 1), *types = array_random(2 * C, 1);
	struct array *places = array_random(4 * C, 1), *x = array_new(T * C);
	struct array *dx = array_random(T * C, 1), *dtokens = array_of(V * C, 1);
	struct array *dtypes = array_of(2 * C, 1), *dplaces = array_of(4 * C, 1);
	struct nn_sequences at = sequences_at(starts, 3);
	int32_t *id = device_ints(ids, T);
	const int32_t *row = rows_of ? rows_of : counted;

	at.types = types_of ? device_ints(types_of, T) : NULL;
	at.positions = rows_of ? device_ints(rows_of, T) : NULL;
	for (size_t t = 0; t < T; t++)
		for (size_t c = 0; c < C; c++) {
			size_t token = (size_t)ids[t] * C + c,
			       place = (size_t)row[t] * C + c,
			       type = types_of ? (size_t)types_of[t] * C + c : c;
			x->ref[t * C + c] =
			    tokens->ref[token] + types->ref[type] + places->ref[place];
			dtokens->ref[token] += dx->ref[t * C + c];
			dtypes->ref[type] += dx->ref[t * C + c];
			dplaces->ref[place] += dx->ref[t * C + c];
		}
	nn_embed(x->at, id, &at, f32(tokens), f32(types), f32(places), C);
	expect(name, x->at, x->ref, T * C, 1e-6);
	nn_embed_back(dtokens->at, dtypes->at, dplaces->at, dx->at, id, &at, C);
	expect("embed dtokens", dtokens->at, dtokens->ref, V * C, 1e-6);
	expect("embed dtypes", dtypes->at, dtypes->ref, 2 * C, 1e-6);
	expect("embed dpositions", dplaces->at, dplaces->ref, 4 * C, 1e-6);
	struct array *rows = array_new(T * C), *sums = array_of(V * C, 1);
	for (size_t i = 0; i < T * C; i++) {
		size_t from = (size_t)ids[i / C] * C + i % C;
		rows->ref[i] = tokens->ref[from];
		sums->ref[from] += dx->ref[i];
	}
	nn_gather(rows->at, tokens->at, id, T, C);
	expect("gather", rows->at, rows->ref, T * C, 0);
	nn_scatter_add(sums->at, dx->at, id, T, C);
	expect("scatter", sums->at, sums->ref, V * C, 1e-6);
}

static void
check_embed(void)
{
	static const int32_t rows[] = { 2, 1, 3, 1, 1, 2, 0 };

	static const int32_t types[] = { 0, 1, 1, 0, 0, 1, 0 };

	check_embed_of("embed", NULL, NULL);
	check_embed_of("embed, rows of positions", rows, NULL);
	check_embed_of("embed, types", NULL, types);
}

struct pool {
	const int32_t *starts, *skip;
	size_t N, C;
	enum nn_pool kind;
};

static void
pool(double *y, struct array *const *in, const void *sizes)
{
	const struct pool *s = sizes;
	const double *x = in[0]->ref;

	for (size_t i = 0; i < s->N; i++)
		for (size_t c = 0; c < s->C; c++) {
			int32_t start = s->starts[i], end = s->starts[i + 1];
			double sum = 0, weights = 0, count = 0, top = 0;
			for (int32_t t = start + (s->skip ? s->skip[i] : 0); t < end;
			     t++) {
				double value = x[(size_t)t * s->C + c];
				double weight =
				    s->kind == NN_POOL_WEIGHTED ? t - start + 1 : 1;
				top = count && top > value ? top : value;
				sum += weight * value;
				weights += weight;
				count++;
			}
			double *to = y + i * s->C + c;
			*to = count ? sum / (s->kind == NN_POOL_MEAN_SQRT ? sqrt(count)
									  : weights)
				    : 0;
			if (s->kind == NN_POOL_MAX)
				*to = top;
			else if (s->kind == NN_POOL_CLS)
				*to = start < end
					  ? x[(size_t)(count ? end - (int32_t)count
							     : start) *
						    s->C +
						c]
					  : 0;
			else if (s->kind == NN_POOL_LAST)
				*to = start < end ? x[(size_t)(end - 1) * s->C + c] : 0;
		}
}

/* out: how many first tokens pooling leaves out, in every other case */
static void
pool_case(const int32_t *starts, const int32_t *out, size_t C)
{
	size_t T = (size_t)starts[4];

	for (int i = 0; i <= 2 * NN_POOL_LAST + 1; i++) {
		struct pool s = { starts, i & 1 ? out : NULL, 4, C,
			(enum nn_pool)(i / 2) };
		struct nn_sequences at = sequences_at(starts, 4);
		int32_t *skip = i & 1 ? device_ints(out, 4) : NULL;
		struct array *x = array_random(T * C, 1), *y = array_new(4 * C);
		struct array *dx = array_of(T * C, 1);
		struct operation o = { pool, &s, { x }, array_random(4 * C, 1) };
		pool(y->ref, o.in, &s);
		nn_pool(y->at, C, x->at, &at, skip, s.kind, C);
		expect("pool", y->at, y->ref, 4 * C, 1e-6);
		nn_pool_back(dx->at, o.dy->at, C, x->at, &at, skip, s.kind, C);
		expect_gradient("pool dx", dx->at, &o, 0, 0);
	}
}

static void
check_pool(void)
{
	static const int32_t few[] = { 0, 4, 5, 5, 11 }, skip[] = { 2, 3, 1, 0 };
	static const int32_t many[] = { 0, 40, 41, 41, 117 };

	pool_case(few, skip, 9);
	pool_case(many, skip, 5);
}

/* Losses and steps. ---------------------------------------------------------------- */

static void
loss_case(size_t R, size_t V)
{
	int32_t *targets = mem_new(R, sizeof *targets);
	uint8_t *keep = mem_new(R, V), *mask = nn_alloc(R * V);

	for (int kind = 0; kind < 4; kind++) {
		bool masked = kind & 1, tied = kind & 2;
		struct array *x = array_random(R * V, 3), *wanted = array_new(R * V);
		/* an eighth of a row equals its maximum */
		for (size_t i = 0; tied && i < R * V; i++)
			x->ref[i] = fmin(round(x->ref[i]), 4);
		double loss = 0;
		double right = 0;
		struct nn_loss got = { 1, 2 }, *both = nn_alloc(sizeof got);
		for (size_t i = 0; i < R * V; i++)
			keep[i] = !masked || rng_below(&chance, 3) > 0;
		for (size_t r = 0; r < R; r++) {
			double *row = x->ref + r * V, sum = 0;
			targets[r] = (int32_t)rng_below(&chance, V);
			if (tied && r % 2)
				row[targets[r]] = 4;
			keep[r * V + (size_t)targets[r]] = 1;
			double own = row[targets[r]], equal = 0;
			bool beaten = false;
			for (size_t v = 0; v < V; v++) {
				sum += keep[r * V + v] ? exp(row[v]) : 0;
				beaten |= keep[r * V + v] && row[v] > own;
				equal += keep[r * V + v] && row[v] == own;
			}
			for (size_t v = 0; v < V; v++)
				wanted->ref[r * V + v] =
				    keep[r * V + v] ? 0.5 * exp(row[v]) / sum : 0;
			wanted->ref[r * V + (size_t)targets[r]] -= 0.5;
			loss += log(sum) - row[targets[r]];
			right += beaten ? 0 : 1 / equal;
		}
		array_upload(x);
		nn_upload(mask, keep, R * V);
		nn_upload(both, &got, sizeof got);
		nn_cross_entropy(x->at, both, device_ints(targets, R),
		    masked ? mask : NULL, 0.5f, R, V);
		nn_download(&got, both, sizeof got);
		nn_free(both, sizeof got);
		expect("cross-entropy's gradient", x->at, wanted->ref, R * V, 1e-6);
		/* the loss and the gradient are added to */
		expect_value("cross-entropy", got.loss, 1 + loss, 1e-6);
		expect_value("cross-entropy's hits", got.correct, 2 + right, 1e-12);
	}
	nn_free(mask, R * V);
	free(keep);
	free(targets);
}

/* also more rows than one pass sums, and rows longer than a block of threads */
static void
check_loss(void)
{
	loss_case(7, 83);
	loss_case(1100, 40);
	loss_case(3, 9001);
	loss_case(2, 12288);
}

/* Its sum of squares; g becomes zero. */
static double
step_slice(struct array *w, struct array *m, struct array *v, struct array *g,
    const struct nn_adamw *a, const struct nn_slice *slice)
{
	double sum = 0, step = (double)slice->step;

	for (size_t i = slice->offset, j = slice->moments;
	     i < slice->offset + slice->count; i++, j++) {
		double d = g->ref[i] * a->scale;
		sum += g->ref[i] * g->ref[i];
		g->ref[i] = 0;
		if (!slice->step)
			continue;
		w->ref[i] -= a->lr * slice->decay * w->ref[i];
		m->ref[j] = a->beta1 * m->ref[j] + (1 - a->beta1) * d;
		v->ref[j] = a->beta2 * v->ref[j] + (1 - a->beta2) * d * d;
		double mean = m->ref[j] / (1 - pow(a->beta1, step));
		double square = v->ref[j] / (1 - pow(a->beta2, step));
		w->ref[i] -= a->lr * mean / (sqrt(square) + a->eps);
	}
	return sum;
}

static void
check_adamw(void)
{
	enum { SLICES = 4, N = 40100 };
	struct array *w = array_random(N, 1), *m = array_new(N), *v = array_new(N);
	struct nn_adamw a = { 1e-2, 0.9, 0.999, 1e-8, 0.5 };
	/* a large slice, one at a later step, one that is not updated; the elements between them belong to no slice.
	 * Their moments have another order. */
	struct nn_slice slices[SLICES] = { { 0, 40000, 0.1, 0, 64 },
		{ 40016, 3, 0, 7, 2 }, { 40032, 20, 0.1, 0, 40064 },
		{ 40080, 17, 0.3, 0, 16 } };
	struct nn_slice *given = nn_alloc(sizeof slices);
	double squares[SLICES], *sums = nn_alloc(sizeof squares);

	for (int step = 1; step <= 5; step++) {
		struct array *g = array_random(N, 1);
		for (size_t i = 0; i < SLICES; i++)
			slices[i].step += i != 2;
		nn_upload(given, slices, sizeof slices);
		nn_square_sums(sums, g->at, given, SLICES, 40000);
		nn_download(squares, sums, sizeof squares);
		nn_adamw(w->at, m->at, v->at, g->at, &a, given, SLICES, 40000);
		for (size_t i = 0; i < SLICES; i++)
			squares[i] -= step_slice(w, m, v, g, &a, &slices[i]);
		for (size_t i = 0; i < SLICES; i++)
			expect_value("square sums", squares[i], 0, 1e-8);
		expect("gradients", g->at, g->ref, N, 0);
	}
	expect("adamw", w->at, w->ref, N, 1e-6);
	nn_free(given, sizeof slices);
	nn_free(sums, sizeof squares);
}

static void
check_vector(void)
{
	size_t n = 70001;
	struct array *x = array_random(n, 1), *y = array_random(n, 1);
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x->ref[i] * x->ref[i];
		y->ref[i] = y->ref[i] * 0.25 + x->ref[i];
	}
	expect_value("square sum", nn_square_sum(x->at, n), sum, 1e-12);
	nn_scale(y->at, 0.25f, n);
	nn_add(y->at, x->at, n);
	expect("scale and add", y->at, y->ref, n, 1e-6);
	for (size_t i = 0; i < n; i++)
		y->ref[i] += 0.125 * (x->ref[i] - y->ref[i]);
	nn_lerp(y->at, x->at, 0.125f, n);
	expect("lerp", y->at, y->ref, n, 1e-6);
	nn_copy(y->at, x->at, n);
	nn_lerp(y->at, x->at, 0.3f, n);
	expect_same("lerp of equals", y, x);
	expect_value("finite", nn_finite(x->at, n), 1, 0);
	x->ref[n - 1] = NAN;
	array_upload(x);
	expect_value("not finite", nn_finite(x->at, n), 0, 0);
	x->ref[n - 1] = -INFINITY;
	array_upload(x);
	expect_value("infinite", nn_finite(x->at, n), 0, 0);
}

static const struct check checks[] = {
	{ "rotary", check_rotary },
	{ "embed", check_embed },
	{ "pool", check_pool },
	{ "loss", check_loss },
	{ "adamw", check_adamw },
	{ "vector", check_vector },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
