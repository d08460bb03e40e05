/*
 * nn_check_sizes NAME... - compare the kernels of nn.h that work by rows with plain loops, for rows of every size
 *
 * Rows so narrow that several share a block of threads, rows with a block each, and rows in several chunks; many rows; sorts
 * by several digits; see nn_check.c.
 */
#include "nn_check.h"

/* Rows. ---------------------------------------------------------------------------- */

/* rows, columns: rows that fit the registers of few and of many threads, and longer ones */
static const size_t shapes[][2] = { { 5000, 13 }, { 70, 64 }, { 4500, 70 }, { 30, 256 },
	{ 20, 500 }, { 20, 1000 }, { 530, 1030 }, { 5, 3002 }, { 5, 4096 }, { 4, 8192 },
	{ 4, 8201 }, { 3, 12288 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct norm_arrays {
	struct array *x, *r, *w, *b, *y, *s, *stats, *dy, *ds, *dw, *db;
};

/* With g = dy w and z = (s - mean) scale: ds = scale (g - mean(g) - z mean(g z)). */
static void
norm_row(const struct norm_arrays *a, enum nn_norm kind, size_t t, size_t C)
{
	double mean = 0, spread = 0, sum = 0, product = 0;
	double plus = kind == NN_RMSNORM_PLUS, *s = a->s->ref + t * C;

	for (size_t c = 0; c < C; c++) {
		s[c] = a->x->ref[t * C + c] + a->r->ref[t * C + c];
		mean += kind == NN_LAYERNORM ? s[c] / (double)C : 0;
	}
	for (size_t c = 0; c < C; c++)
		spread += (s[c] - mean) * (s[c] - mean) / (double)C;
	double scale = 1 / sqrt(spread + 1e-5);
	a->stats->ref[2 * t] = mean;
	a->stats->ref[2 * t + 1] = scale;
	for (size_t c = 0; c < C; c++) {
		double z = (s[c] - mean) * scale, dy = a->dy->ref[t * C + c];
		double g = dy * (plus + a->w->ref[c]);
		a->y->ref[t * C + c] = z * (plus + a->w->ref[c]) + a->b->ref[c];
		a->dw->ref[c] += dy * z;
		a->db->ref[c] += dy;
		sum += kind == NN_LAYERNORM ? g / (double)C : 0;
		product += g * z / (double)C;
	}
	for (size_t c = 0; c < C; c++) {
		double z = (s[c] - mean) * scale;
		double g = a->dy->ref[t * C + c] * (plus + a->w->ref[c]);
		a->ds->ref[t * C + c] = scale * (g - sum - z * product);
	}
}

static void
norm_case(size_t T, size_t C, enum nn_norm kind)
{
	size_t n = T * C;
	struct norm_arrays a = { array_random(n, 1), array_random(n, 1),
		array_random(C, 1), array_random(C, 1), array_new(n), array_new(n),
		array_new(2 * T), array_random(n, 1), array_new(n), array_of(C, 1),
		array_of(C, 1) };

	for (size_t t = 0; t < T; t++)
		norm_row(&a, kind, t, C);
	nn_norm(a.y->at, a.s->at, a.stats->at, a.x->at, a.r->at, a.w->at, a.b->at, 1e-5f,
	    kind, T, C);
	expect("norm", a.y->at, a.y->ref, n, 5e-6);
	expect("norm s", a.s->at, a.s->ref, n, 1e-6);
	expect("norm stats", a.stats->at, a.stats->ref, 2 * T, 1e-6);
	nn_norm_back(a.ds->at, a.dw->at, a.db->at, a.dy->at, a.s->at, a.stats->at,
	    a.w->at, kind, T, C);
	expect("norm ds", a.ds->at, a.ds->ref, n, 5e-6);
	expect("norm dw", a.dw->at, a.dw->ref, C, 1e-5);
	expect("norm db", a.db->at, a.db->ref, C, 1e-5);
	/* in place; and only the gradients of the parameters */
	nn_norm(
	    a.r->at, NULL, NULL, a.x->at, a.r->at, a.w->at, a.b->at, 1e-5f, kind, T, C);
	expect_same("norm in place of the residual", a.r, a.y);
	nn_norm_back(
	    NULL, a.dw->at, NULL, a.dy->at, a.s->at, a.stats->at, NULL, kind, T, C);
	for (size_t c = 0; c < C; c++)
		a.dw->ref[c] += a.dw->ref[c] - 1;
	expect("norm dw once more", a.dw->at, a.dw->ref, C, 1e-5);
	nn_norm_back(
	    a.dy->at, NULL, NULL, a.dy->at, a.s->at, a.stats->at, a.w->at, kind, T, C);
	expect_same("norm ds in place", a.dy, a.ds);
}

static void
check_norms(void)
{
	for (size_t i = 0; i < SHAPES; i++) {
		norm_case(shapes[i][0], shapes[i][1], (enum nn_norm)(i % 3));
		arrays_free();
	}
	norm_case(0, 40, NN_LAYERNORM);
	norm_case(9, 40, NN_RMSNORM);
	norm_case(3, 8300, NN_LAYERNORM);
}

/* Many heads of many tokens, among other columns. */
static void
check_heads(void)
{
	enum { T = 900, HEADS = 5, D = 64, LD = HEADS * D + 4 };
	struct array *x = array_random(T * LD, 1), *w = array_random(D, 1);
	struct array *y = array_new(T * LD), *stats = array_new(2 * T * HEADS);
	struct array *dy = array_random(T * LD, 1), *dw = array_of(D, 1);

	for (size_t i = 0; i < T * HEADS; i++) {
		size_t at = i / HEADS * LD + i % HEADS * D;
		double sum = 0;
		for (size_t d = 0; d < D; d++)
			sum += x->ref[at + d] * x->ref[at + d] / D;
		for (size_t d = 0; d < D; d++) {
			double z = x->ref[at + d] / sqrt(sum + 1e-6);
			y->ref[at + d] = z * w->ref[d];
			dw->ref[d] += dy->ref[at + d] * z;
		}
	}
	nn_norm_heads(
	    y->at, LD, stats->at, x->at, LD, w->at, NULL, 1e-6f, NN_RMSNORM, T, HEADS, D);
	expect("heads", y->at, y->ref, y->n, 5e-6);
	nn_norm_heads_back(NULL, dw->at, NULL, dy->at, LD, x->at, LD, stats->at, w->at,
	    NN_RMSNORM, T, HEADS, D);
	expect("heads dw", dw->at, dw->ref, D, 1e-5);
}

static void
unit_case(size_t R, size_t C)
{
	struct array *x = array_random(R * C, 1), *y = array_new(R * C);
	struct array *dy = array_random(R * C, 1), *dx = array_new(R * C);
	struct array *lengths = array_new(R), *dots = array_new(R);

	for (size_t r = 0; r < R; r++) {
		double along = 0, *length = &lengths->ref[r], *dot = &dots->ref[r];
		for (size_t i = r * C; i < (r + 1) * C; i++) {
			*length += x->ref[i] * x->ref[i];
			*dot += x->ref[i] * dy->ref[i];
		}
		*length = sqrt(*length);
		for (size_t i = r * C; i < (r + 1) * C; i++) {
			y->ref[i] = x->ref[i] / *length;
			along += y->ref[i] * dy->ref[i];
		}
		for (size_t i = r * C; i < (r + 1) * C; i++)
			dx->ref[i] = (dy->ref[i] - y->ref[i] * along) / *length;
	}
	nn_normalize(y->at, lengths->at, x->at, R, C);
	expect("unit", y->at, y->ref, R * C, 1e-6);
	expect("lengths", lengths->at, lengths->ref, R, 1e-6);
	nn_dot_rows(dots->at, x->at, dy->at, R, C);
	/* terms of either sign: the error of the sum is relative to the terms */
	expect("dots", dots->at, dots->ref, R, 1e-4);
	nn_normalize_back(dx->at, dy->at, y->at, lengths->at, R, C);
	expect("unit dx", dx->at, dx->ref, R * C, 2e-6);
	nn_normalize_back(dy->at, dy->at, y->at, lengths->at, R, C);
	expect_same("unit dx in place", dy, dx);
	nn_normalize(x->at, NULL, x->at, R, C);
	expect_same("unit in place", x, y);
}

static void
softmax_case(size_t R, size_t V)
{
	struct array *x = array_random(R * V, 3), *y = array_new(R * V);
	struct array *dy = array_random(R * V, 1), *dx = array_new(R * V);

	for (size_t r = 0; r < R; r++) {
		double sum = 0, along = 0;
		for (size_t i = r * V; i < (r + 1) * V; i++)
			sum += exp(x->ref[i]);
		for (size_t i = r * V; i < (r + 1) * V; i++) {
			y->ref[i] = exp(x->ref[i]) / sum;
			along += y->ref[i] * dy->ref[i];
		}
		for (size_t i = r * V; i < (r + 1) * V; i++)
			dx->ref[i] = y->ref[i] * (dy->ref[i] - along);
	}
	nn_softmax(y->at, x->at, R, V);
	expect("softmax", y->at, y->ref, R * V, 1e-6);
	nn_softmax_back(dx->at, dy->at, y->at, R, V);
	expect("softmax dx", dx->at, dx->ref, R * V, 2e-6);
	nn_softmax_back(dy->at, dy->at, y->at, R, V);
	expect_same("softmax dx in place", dy, dx);
	nn_softmax(x->at, x->at, R, V);
	expect_same("softmax in place", x, y);
}

static void
check_units(void)
{
	for (size_t i = 0; i < SHAPES; i++) {
		unit_case(shapes[i][0] / 10 + 1, shapes[i][1]);
		arrays_free();
	}
	unit_case(0, 5);
}

static void
check_softmax(void)
{
	for (size_t i = 0; i < SHAPES; i++) {
		softmax_case(shapes[i][0] / 10 + 1, shapes[i][1]);
		arrays_free();
	}
	softmax_case(0, 5);
	softmax_case(1000, 6);
}

/* The final step of MurmurHash3, which mixes all bits. */
static uint32_t
mixed(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

/* Every backend drops the same elements. */
static void
check_dropout(void)
{
	enum { R = 300, C = 37, LD = 40, KEYS = 5 };
	const uint64_t salt = 0x123456789abcdef;
	uint64_t host[R], *keys = nn_alloc(sizeof host);
	int32_t of[R];
	struct array *x = array_random(R * LD, 1), *y = array_new(R * C);

	for (size_t r = 0; r < R; r++) {
		host[r] = rng_next(&chance);
		of[r] = (int32_t)rng_below(&chance, KEYS);
	}
	nn_upload(keys, host, sizeof host);
	for (int listed = 0; listed < 2; listed++) {
		for (size_t i = 0; i < R * C; i++) {
			size_t r = i / C, row = listed ? (size_t)of[r] : r;
			uint64_t key = (host[row] ^ salt) * 0x9e3779b97f4a7c15;
			uint32_t drawn = mixed(mixed((uint32_t)(i % C) ^ (uint32_t)key) ^
					       (uint32_t)(key >> 32));
			float kept = (float)x->ref[r * LD + i % C] * (float)(1 / 0.7);
			y->ref[i] =
			    drawn < (uint32_t)(0.3 * 4294967296.0) ? 0 : (double)kept;
		}
		nn_dropout(y->at, x->at, LD, keys, listed ? device_ints(of, R) : NULL,
		    salt, 0.3, R, C);
		expect("dropout", y->at, y->ref, R * C, 0);
	}
	nn_free(keys, sizeof host);
}

/* Tokens. -------------------------------------------------------------------------- */

static void
expect_ints(const char *what, const int32_t *at, const int32_t *wanted, size_t n)
{
	int32_t *host = mem_new(n, sizeof *host);
	size_t i = 0;

	nn_download(host, at, n * sizeof *host);
	while (i < n && host[i] == wanted[i])
		i++;
	if (i < n) {
		printf("%s[%zu]: %d, but %d is right\n", what, i, host[i], wanted[i]);
		failures++;
	}
	free(host);
}

/* Rows of V, some of them very often; the bits are equal, since all are added in order. */
static void
scatter_case(size_t R, size_t V, size_t C)
{
	int32_t *rows = mem_new(R, sizeof *rows);
	struct array *y = array_random(V * C, 1), *x = array_random(R * C, 1);

	for (size_t r = 0; r < R; r++) {
		size_t some = rng_below(&chance, 3) ? V : V < 3 ? V : 3;
		rows[r] = (int32_t)rng_below(&chance, some);
	}
	for (size_t i = 0; i < R * C; i++) {
		double *to = &y->ref[(size_t)rows[i / C] * C + i % C];
		*to = (double)((float)*to + (float)x->ref[i]);
	}
	nn_scatter_add(y->at, x->at, device_ints(rows, R), R, C);
	expect("scatter", y->at, y->ref, V * C, 0);
	free(rows);
}

static void
check_scatter(void)
{
	scatter_case(7000, 200000, 1);
	scatter_case(2049, 300, 3);
	scatter_case(4096, 70, 40);
	scatter_case(500, 100000, 4);
	scatter_case(90, 20, 301);
	scatter_case(0, 20, 3);
}

static void
group_case(size_t T, size_t E, size_t top)
{
	size_t n = T * top;
	int32_t *chosen = mem_new(n, sizeof *chosen), *slots = mem_new(n, sizeof *slots);
	int32_t *rows = mem_new(n, sizeof *rows), *offsets = mem_zero(E + 1, 4);
	int32_t *at = device_ints(chosen, n), *to = device_ints(offsets, E + 1);
	int32_t *in_rows = device_ints(chosen, n);
	size_t found = 0;

	/* the last rows have none */
	for (size_t i = 0; i < n; i++)
		chosen[i] = (int32_t)rng_below(&chance, E > 4 ? E - 2 : E);
	for (size_t e = 0; e < E; e++) {
		for (size_t i = 0; i < n; i++)
			if (chosen[i] == (int32_t)e) {
				slots[found] = (int32_t)i;
				rows[found++] = (int32_t)(i / top);
			}
		offsets[e + 1] = (int32_t)found;
	}
	nn_sort_by_expert(in_rows, at, to, device_ints(chosen, n), T, E, top);
	expect_ints("offsets", to, offsets, E + 1);
	expect_ints("slots", at, slots, n);
	expect_ints("rows", in_rows, rows, n);
	free(chosen);
	free(slots);
	free(rows);
	free(offsets);
}

static void
check_groups(void)
{
	group_case(3000, 300, 3);
	group_case(3000, 64, 2);
	group_case(200000, 40, 3);
	group_case(5000, 1, 1);
	group_case(100, 8, 2);
	group_case(0, 8, 2);
}

static float *
device_floats(const float *host, size_t n)
{
	struct array *x = array_new(n);

	nn_upload(x->at, host, n * sizeof *host);
	return x->at;
}

/* Rows of numbers, some equal to their row's threshold, NaN or infinite. */
static void
not_below_case(size_t R, size_t V, double share)
{
	float *x = mem_new(R * V, sizeof *x), *least = mem_new(R, sizeof *least);
	int32_t *starts = mem_zero(R + 1, sizeof *starts);
	int32_t *columns = mem_new(R * V, sizeof *columns), found = 0;
	int32_t *to_starts = device_ints(starts, R + 1),
		*to_columns = device_ints(columns, R * V);

	for (size_t r = 0; r < R; r++) {
		least[r] = r % 7 == 6	 ? -INFINITY
			   : r % 11 == 5 ? INFINITY
					 : (float)(1 - share);
		for (size_t c = 0; c < V; c++) {
			float *own = x + r * V + c;
			size_t kind = rng_below(&chance, 200);
			*own = kind == 0   ? NAN
			       : kind == 1 ? least[r]
					   : (float)rng_uniform(&chance);
			if (*own >= least[r] || isnan(*own))
				columns[found++] = (int32_t)c;
		}
		starts[r + 1] = found;
	}
	nn_not_below(to_starts, to_columns, device_floats(x, R * V),
	    device_floats(least, R), R, V);
	expect_ints("starts", to_starts, starts, R + 1);
	expect_ints("columns", to_columns, columns, (size_t)found);
	free(x);
	free(least);
	free(starts);
	free(columns);
}

static void
check_not_below(void)
{
	not_below_case(300, 1000, 0.01);
	not_below_case(600, 257, 0.3);
	not_below_case(5, 70000, 0.001);
	not_below_case(1, 1, 1);
	not_below_case(1000, 3, 0.5);
	not_below_case(40, 256, 1);
	not_below_case(3, 0, 1);
	not_below_case(0, 3, 1);
}

/* True if number e is among the top of the row; NaN always is, and does not count for others. */
static bool
among(const float *row, size_t e, size_t E, size_t top)
{
	size_t before = 0;

	for (size_t i = 0; i < E; i++)
		before += i < e ? row[i] >= row[e] : row[i] > row[e];
	return before < top;
}

static void
route_case(size_t T, size_t E, size_t top, bool renormalize)
{
	struct array *p = array_new(T * E), *w = array_new(T * top),
		     *dp = array_new(T * E);
	struct array *dw = array_random(T * top, 1);
	int32_t *chosen = mem_zero(T * top, sizeof *chosen),
		*at = device_ints(chosen, T * top);
	float *row = mem_new(E, sizeof *row);

	for (size_t t = 0; t < T; t++) {
		double sum = 0, along = 0;
		size_t found = 0;
		/* few values, so that many are equal */
		for (size_t e = 0; e < E; e++)
			row[e] = (float)(1 + rng_below(&chance, 6)) / 8;
		for (size_t e = 0; e < E; e++)
			p->ref[t * E + e] = (double)row[e];
		for (size_t e = 0; e < E && found < top; e++)
			if (among(row, e, E, top)) {
				sum += (double)row[e];
				along += dw->ref[t * top + found] * (double)row[e];
				w->ref[t * top + found] = (double)row[e];
				chosen[t * top + found++] = (int32_t)e;
			}
		for (size_t i = t * top; i < (t + 1) * top; i++) {
			double *to = &dp->ref[t * E + (size_t)chosen[i]];
			*to = renormalize ? (dw->ref[i] - along / sum) / sum : dw->ref[i];
			w->ref[i] /= renormalize ? sum : 1;
		}
	}
	array_upload(p);
	nn_route(at, w->at, p->at, renormalize, T, E, top);
	expect_ints("chosen", at, chosen, T * top);
	expect("weights", w->at, w->ref, T * top, 1e-6);
	nn_route_back(dp->at, dw->at, at, p->at, renormalize, T, E, top);
	expect("route dp", dp->at, dp->ref, T * E, 1e-5);
	free(chosen);
	free(row);
}

/* NaN among numbers is chosen before all of them; as many as there are, at most `top`. */
static void
route_nan(size_t E, size_t bad)
{
	struct array *p = array_random(E, 1), *w = array_new(2);
	int32_t zeros[2] = { 0 }, *at = device_ints(zeros, 2), wanted[2];
	float row[256];
	size_t found = 0;

	p->ref[bad] = NAN;
	array_upload(p);
	for (size_t e = 0; e < E; e++)
		row[e] = (float)p->ref[e];
	for (size_t e = 0; e < E && found < 2; e++)
		if (among(row, e, E, 2))
			wanted[found++] = (int32_t)e;
	nn_route(at, w->at, p->at, false, 1, E, 2);
	expect_ints("chosen beside NaN", at, wanted, 2);
}

static void
check_routes(void)
{
	for (int renormalize = 0; renormalize < 2; renormalize++) {
		route_case(300, 70, 5, renormalize);
		route_case(77, 32, 1, renormalize);
		route_case(50, 8, 8, renormalize);
		route_case(201, 5, 2, renormalize);
		route_case(0, 5, 2, renormalize);
	}
	for (size_t bad = 0; bad < 8; bad++) {
		route_nan(8, bad);
		route_nan(100, 13 * bad);
	}
}

enum { TOKENS = 5000, WIDE = 6, VOCABULARY = 300, LENGTH = 9 };

/* A matrix of numbers that every type has, in memory of the backend, and its values. */
static struct nn_matrix
typed(enum dtype dtype, size_t n, double *values)
{
	size_t bytes = n * dtype_size(dtype);
	unsigned char *host = mem_new(n, 4);
	struct nn_matrix matrix = { .dtype = dtype };
	struct array *room = array_new(n);

	for (size_t i = 0; i < n; i++) {
		float value = (float)((int)rng_below(&chance, 200) - 100);
		values[i] = (double)value;
		if (dtype == DTYPE_I8)
			((int8_t *)host)[i] = (int8_t)value;
		else
			tensor_from_f32(host + i * dtype_size(dtype), dtype, &value, 1);
	}
	nn_upload(room->at, host, bytes);
	matrix.at = room->at;
	free(host);
	return matrix;
}

static void
check_embed(void)
{
	static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_I8 };
	enum { N = TOKENS / LENGTH + 1 };
	int32_t ids[TOKENS], starts[N + 1];
	double table[VOCABULARY * WIDE], types[WIDE], places[LENGTH * WIDE];

	for (size_t i = 0; i <= N; i++)
		starts[i] = (int32_t)(i * LENGTH < TOKENS ? i * LENGTH : TOKENS);
	for (size_t t = 0; t < TOKENS; t++)
		ids[t] = (int32_t)rng_below(&chance, VOCABULARY);
	struct nn_sequences at = sequences_at(starts, N);
	int32_t *id = device_ints(ids, TOKENS);
	struct array *x = array_new(TOKENS * WIDE), *dx = array_random(TOKENS * WIDE, 1);
	for (int i = 0; i < 4; i++) {
		struct nn_matrix tokens = typed(dtypes[i], VOCABULARY * WIDE, table);
		struct nn_matrix type = typed(i ? DTYPE_F16 : DTYPE_F32, WIDE, types);
		struct nn_matrix place = typed(DTYPE_BF16, LENGTH * WIDE, places);
		for (size_t j = 0; j < TOKENS * WIDE; j++) {
			size_t t = j / WIDE, c = j % WIDE;
			x->ref[j] = table[(size_t)ids[t] * WIDE + c] + types[c] +
				    places[t % LENGTH * WIDE + c];
		}
		nn_embed(x->at, id, &at, tokens, type, place, WIDE);
		expect("embed", x->at, x->ref, x->n, 0);
	}
	struct array *dtokens = array_of(VOCABULARY * WIDE, 1);
	struct array *dtypes_of = array_of(WIDE, 1),
		     *dplaces = array_of(LENGTH * WIDE, 1);
	for (size_t j = 0; j < TOKENS * WIDE; j++) {
		dtokens->ref[(size_t)ids[j / WIDE] * WIDE + j % WIDE] += dx->ref[j];
		dtypes_of->ref[j % WIDE] += dx->ref[j];
		dplaces->ref[j / WIDE % LENGTH * WIDE + j % WIDE] += dx->ref[j];
	}
	nn_embed_back(dtokens->at, dtypes_of->at, dplaces->at, dx->at, id, &at, WIDE);
	expect("embed dtokens", dtokens->at, dtokens->ref, dtokens->n, 2e-6);
	expect("embed dtypes", dtypes_of->at, dtypes_of->ref, WIDE, 1e-4);
	expect("embed dpositions", dplaces->at, dplaces->ref, dplaces->n, 1e-5);
}

/* The gradient of the maximum goes to the first of equal tokens. */
static void
check_ties(void)
{
	static const int32_t starts[] = { 0, 3, 50 };
	enum { T = 50, C = 6 };
	struct array *x = array_of(T * C, 1), *dx = array_of(T * C, 1);
	struct array *dy = array_random(2 * C, 1);
	struct nn_sequences at = sequences_at(starts, 2);

	/* the second of each row's columns is least where it begins */
	for (size_t t = 0; t < T; t++)
		x->ref[t * C + 1] = t == 0 || t == 3 ? 0 : 1;
	array_upload(x);
	memset(dx->ref, 0, T * C * sizeof *dx->ref);
	for (size_t i = 0; i < 2 * C; i++) {
		size_t first = (size_t)starts[i / C] + (i % C == 1);
		dx->ref[first * C + i % C] = dy->ref[i];
	}
	nn_pool_back(dx->at, dy->at, C, x->at, &at, NULL, NN_POOL_MAX, C);
	expect("pool dx of equal ones", dx->at, dx->ref, T * C, 0);
}

static void
check_slices(void)
{
	enum { SLICES = 700, N = 5 * SLICES };
	struct array *x = array_random(N, 1);
	struct nn_slice slices[SLICES] = { { 0 } };
	double sums[SLICES], wanted, *to = nn_alloc(sizeof sums);

	for (size_t i = 0; i < SLICES; i++) {
		slices[i].offset = 5 * i;
		slices[i].count = i * i % 6;
	}
	struct nn_slice *given = nn_alloc(sizeof slices);
	nn_upload(given, slices, sizeof slices);
	nn_square_sums(to, x->at, given, SLICES, 5);
	nn_download(sums, to, sizeof sums);
	for (size_t i = 0; i < SLICES; i++) {
		wanted = 0;
		for (size_t j = 5 * i; j < 5 * i + slices[i].count; j++)
			wanted += x->ref[j] * x->ref[j];
		expect_value("square sums", sums[i], wanted, 1e-12);
	}
	nn_free(given, sizeof slices);
	nn_free(to, sizeof sums);
}

static const struct check checks[] = {
	{ "norms", check_norms },
	{ "heads", check_heads },
	{ "units", check_units },
	{ "softmax", check_softmax },
	{ "dropout", check_dropout },
	{ "scatter", check_scatter },
	{ "groups", check_groups },
	{ "not_below", check_not_below },
	{ "routes", check_routes },
	{ "embed", check_embed },
	{ "ties", check_ties },
	{ "slices", check_slices },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
