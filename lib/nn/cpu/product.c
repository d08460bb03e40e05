#include "nn/nn.h"

#include <omp.h>
#include <string.h>

#include "nn/cpu/packed.h"
#include "nn/cpu/product.h"
#include "nn/cpu/transpose.h"

void
nn_product_begin(const struct product *p, size_t m, size_t rows, size_t n, size_t width)
{
	for (size_t r = 0; r < rows; r++) {
		float *c = p->c + (m + r) * p->ldc + n;
		if (p->beta == 0)
			for (size_t j = 0; j < width; j++)
				c[j] = p->bias ? p->bias[n + j] : 0;
		else
			for (size_t j = 0; j < width; j++)
				c[j] = p->beta * c[j] + (p->bias ? p->bias[n + j] : 0);
	}
}

void
nn_product_finish(const struct product *p, size_t m, size_t rows, size_t n, size_t width)
{
	for (size_t r = 0; p->act && r < rows; r++) {
		float *c = p->c + (m + r) * p->ldc + n;
		nn_activate_serial(c, c, *p->act, width);
	}
}

/* Packing. ------------------------------------------------------------------------- */

/*
 * Matrix products after Goto and van de Geijn 2008: a block of b is packed into panels that
 * stay in the second cache, a strip of a beside it, and a tile of c grows in the registers.
 */
enum {
	STRIP = 48,  /* rows of a packed at once: whole tiles, whole vectors */
	DEPTH = 384, /* of K packed at once */
	SPAN = 384,  /* columns of b packed at once: whole panels */
	STRIDE = DEPTH + NN_LANES /* of a packed row; not a power of two */
};

/* The stored columns first .. first+some-1 of a row of `length`, as floats; they are of one group. */
static void
widen_row(float *to, const char *row, enum dtype dtype, size_t length, size_t first,
    size_t some)
{
	const char *at = row + first * nn_element(dtype);

	switch (dtype) {
	case DTYPE_F16:
	case DTYPE_BF16: nn_widen(to, (const void *)at, dtype, some); break;
	case DTYPE_I8:
		for (size_t i = 0; i < some; i++)
			to[i] = (float)((const int8_t *)at)[i] *
				nn_scale_of(row, length, first);
		break;
	default: memcpy(to, at, some * sizeof *to); break;
	}
}

/* b[k..k+depth-1, n..n+some-1], and zeros, to panel[depth][NN_PANEL] */
static void
pack_panel(
    float *panel, const struct product *p, size_t k, size_t depth, size_t n, size_t some)
{
	if (p->b_transposed) {
		nn_transpose(panel, NN_PANEL, nn_matrix_from(p->b, n, p->ldb), p->ldb, k,
		    some, depth, NN_PANEL, 1);
		return;
	}
	for (size_t i = 0; i < depth; i++, panel += NN_PANEL) {
		struct nn_matrix row = nn_matrix_from(p->b, k + i, p->ldb);
		if (some < NN_PANEL)
			memset(panel, 0, NN_PANEL * sizeof *panel);
		widen_row(panel, row.at, row.dtype, p->ldb, n, some);
	}
}

/* b[k..k+depth-1, n..n+width-1] to panels[width / NN_PANEL][depth][NN_PANEL] */
static void
pack_b(float *panels, const struct product *p, size_t k, size_t depth, size_t n,
    size_t width)
{
	for (size_t at = 0; at < width; at += NN_PANEL, panels += depth * NN_PANEL)
		pack_panel(panels, p, k, depth, n + at,
		    width - at < NN_PANEL ? width - at : NN_PANEL);
}

/* Panels [depth][NN_PANEL] of b, `stride` floats from one to the next. */
struct panels {
	const float *at;
	size_t stride;
};

/* Of a matrix that nn_pack_floats made. */
static struct panels
packed_panels(const struct product *p, size_t k, size_t n)
{
	size_t stride = p->K * NN_PANEL;
	const float *at = (const float *)p->b.at + n / NN_PANEL * stride + k * NN_PANEL;

	return (struct panels){ at, stride };
}

size_t
nn_packed_floats(size_t O, size_t C)
{
	return (O + NN_PANEL - 1) / NN_PANEL * NN_PANEL * C;
}

void
nn_pack_floats(float *to, struct nn_matrix w, bool transposed, size_t O, size_t C)
{
	const struct product p = { .b = w, .ldb = transposed ? O : C, .b_transposed = !transposed };

#pragma omp parallel for schedule(static) if (O * C > NN_SERIAL)
	for (size_t n = 0; n < O; n += NN_PANEL)
		pack_panel(to + n * C, &p, 0, C, n, O - n < NN_PANEL ? O - n : NN_PANEL);
}

/* alpha a[m..m+rows-1, k..k+depth-1] to strip[rows][STRIDE] */
static void
pack_a(
    float *strip, const struct product *p, size_t k, size_t depth, size_t m, size_t rows)
{
	if (p->a_transposed) {
		size_t width = (depth + NN_LANES - 1) / NN_LANES * NN_LANES;
		nn_transpose(strip, STRIDE, nn_f32(p->a + k * p->lda + m), p->lda, 0,
		    depth, rows, width, p->alpha);
		return;
	}
	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < depth; i++)
			strip[r * STRIDE + i] = p->alpha * p->a[(m + r) * p->lda + k + i];
}

/* Rows that sums start from; stride 0: all from one. */
struct start {
	const float *at;
	size_t stride;
};

/* What the sums of c start from in its columns n.. : where it is nothing but a bias, that is not written there first. */
static struct start
start_of(const struct product *p, size_t k, size_t m, size_t rows, size_t n, size_t width)
{
	static const float zeros[SPAN];

	if (k == 0 && p->beta == 0)
		return (struct start){ p->bias ? p->bias + n : zeros, 0 };
	if (k == 0)
		nn_product_begin(p, m, rows, n, width);
	return (struct start){ p->c + m * p->ldc + n, p->ldc };
}

/* c[rows, NN_PANEL] = start + strip[rows, depth] panel[depth, NN_PANEL] */
static void
panel_product(float *c, size_t ldc, struct start start, const float *strip,
    const float *panel, size_t depth, size_t rows)
{
	nn_tiles(c, ldc, start.at, start.stride, strip, STRIDE, 1, panel, NN_PANEL, depth,
	    rows, NN_TILE, 2);
}

/* A strip of a against the packed columns n.. of b. */
static void
strip_product(const struct product *p, struct start start, const float *strip,
    struct panels panels, size_t depth, size_t m, size_t rows, size_t n, size_t width)
{
	for (size_t at = 0; at < width; at += NN_PANEL, start.at += NN_PANEL) {
		const float *panel = panels.at + at / NN_PANEL * panels.stride;
		float *c = p->c + m * p->ldc + n + at;
		if (at + NN_PANEL <= width) {
			panel_product(c, p->ldc, start, strip, panel, depth, rows);
			continue;
		}
		_Alignas(64) float edge[STRIP * NN_PANEL] = { 0 };
		for (size_t r = 0; r < rows; r++)
			memcpy(edge + r * NN_PANEL, start.at + r * start.stride,
			    (width - at) * sizeof *c);
		panel_product(edge, NN_PANEL, (struct start){ edge, NN_PANEL }, strip,
		    panel, depth, rows);
		for (size_t r = 0; r < rows; r++)
			memcpy(c + r * p->ldc, edge + r * NN_PANEL,
			    (width - at) * sizeof *c);
	}
}

/* One thread's rectangle of c. */
static void
rectangle(const struct product *p, size_t m0, size_t m1, size_t n0, size_t n1)
{
	_Alignas(64) float own[DEPTH * SPAN], strip[STRIP * STRIDE];

	for (size_t n = n0; n < n1; n += SPAN) {
		size_t width = n1 - n < SPAN ? n1 - n : SPAN;
		for (size_t k = 0; k < p->K || k == 0; k += DEPTH) {
			size_t depth = p->K - k < DEPTH ? p->K - k : DEPTH;
			struct panels panels = { own, depth * NN_PANEL };
			if (p->b.packed)
				panels = packed_panels(p, k, n);
			else
				pack_b(own, p, k, depth, n, width);
			for (size_t m = m0; m < m1; m += STRIP) {
				size_t rows = m1 - m < STRIP ? m1 - m : STRIP;
				pack_a(strip, p, k, depth, m, rows);
				strip_product(p, start_of(p, k, m, rows, n, width), strip,
				    panels, depth, m, rows, n, width);
				if (k + depth == p->K)
					nn_product_finish(p, m, rows, n, width);
			}
		}
	}
}

/* Whole products. ------------------------------------------------------------------ */

static size_t
parts(size_t whole, size_t part)
{
	return (whole + part - 1) / part;
}

/* Threads to set along the rows; the others go along the columns.  A thread's time is that of
 * its rectangle, and of packing its columns of b, which costs as much as some ten rows. */
static size_t
threads_along_rows(const struct product *p, size_t threads)
{
	size_t best = 1, least = SIZE_MAX;

	for (size_t along = 1; along <= threads; along++) {
		if (threads % along)
			continue;
		size_t rows = parts(parts(p->M, NN_TILE), along) * NN_TILE + 10;
		size_t time = rows * parts(parts(p->N, NN_PANEL), threads / along);
		if (time < least) {
			least = time;
			best = along;
		}
	}
	return best;
}

static void
multiply(const struct product *p)
{
	bool few = nn_few_rows(p);

#pragma omp parallel if (p->M * p->N * p->K > 1 << 20)
	{
		size_t threads = (size_t)omp_get_num_threads();
		size_t thread = (size_t)omp_get_thread_num();
		size_t along = few ? 1 : threads_along_rows(p, threads),
		       across = threads / along;
		size_t rows = parts(p->M, NN_TILE), columns = parts(p->N, NN_PANEL);
		size_t i = thread % along, j = thread / along;
		size_t m0 = rows * i / along * NN_TILE,
		       m1 = rows * (i + 1) / along * NN_TILE;
		size_t n0 = columns * j / across * NN_PANEL,
		       n1 = columns * (j + 1) / across * NN_PANEL;
		m1 = m1 < p->M ? m1 : p->M;
		n1 = n1 < p->N ? n1 : p->N;
		if (few && n0 < n1)
			nn_product_of_few_rows(p, n0, n1);
		else if (p->halves)
			nn_rectangle_of_halves(p, m0, m1, n0, n1);
		else
			rectangle(p, m0, m1, n0, n1);
	}
}

/* Linear layers. ------------------------------------------------------------------- */

static bool
in_halves(struct nn_matrix w)
{
	return w.bf16 && w.dtype == DTYPE_F32 && nn_supports(DTYPE_BF16);
}

static void
linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, const enum nn_act *act, float beta, size_t T, size_t C, size_t O)
{
	if (w.packed && w.dtype != DTYPE_F32) {
		nn_linear_packed(y, ldy, x, ldx, w, b, act, beta != 0, T, C, O);
		return;
	}
	multiply(&(struct product){ .c = y,
	    .a = x,
	    .b = w,
	    .bias = b,
	    .ldc = ldy,
	    .lda = ldx,
	    .ldb = C,
	    .M = T,
	    .N = O,
	    .K = C,
	    .b_transposed = true,
	    .halves = in_halves(w),
	    .act = act,
	    .alpha = 1,
	    .beta = beta });
}

void
nn_linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, b, NULL, 0, T, C, O);
}

void
nn_linear_activate(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, enum nn_act act, size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, b, &act, 0, T, C, O);
}

void
nn_linear_add(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, NULL, NULL, 1, T, C, O);
}

void
nn_linear_grouped(float *y, const float *x, const struct nn_gemm_group *stretches,
    size_t count, const enum nn_act *act, size_t C, size_t O)
{
	for (size_t i = 0; i < count; i++) {
		const struct nn_gemm_group *s = &stretches[i];
		linear(y, O, x, C, s->w, s->b, act, 0, s->rows, C, O);
		y += s->rows * O;
		x += s->rows * C;
	}
}

/* db += column sums; each thread owns some columns, so the order never changes. */
static void
column_sums(float *db, const float *dy, size_t ldy, size_t T, size_t O)
{
#pragma omp parallel for schedule(static) if (T * O > NN_SERIAL)
	for (size_t from = 0; from < O; from += NN_COLUMNS) {
		size_t width = O - from < NN_COLUMNS ? O - from : NN_COLUMNS;
		double sum[NN_COLUMNS] = { 0 };
		for (size_t t = 0; t < T; t++)
#pragma omp simd
			for (size_t c = 0; c < width; c++)
				sum[c] += (double)dy[t * ldy + from + c];
		for (size_t c = 0; c < width; c++)
			db[from + c] += (float)sum[c];
	}
}

void
nn_linear_back(float *dx, bool add, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	if (dx)
		multiply(&(struct product){ .c = dx,
		    .a = dy,
		    .b = w,
		    .ldc = C,
		    .lda = ldy,
		    .ldb = C,
		    .M = T,
		    .N = C,
		    .K = O,
		    .halves = in_halves(w),
		    .alpha = 1,
		    .beta = add ? 1 : 0 });
	if (dw)
		multiply(&(struct product){ .c = dw,
		    .a = dy,
		    .b = nn_f32(x),
		    .ldc = C,
		    .lda = ldy,
		    .ldb = ldx,
		    .M = O,
		    .N = C,
		    .K = T,
		    .a_transposed = true,
		    .halves = in_halves(w),
		    .alpha = 1,
		    .beta = 1 });
	if (db)
		column_sums(db, dy, ldy, T, O);
}

/* Products of matrices whose rows lie close. */
static void
product(float *c, const float *a, bool a_transposed, const float *b, bool b_transposed, size_t M,
    size_t N, size_t K, float alpha, float beta)
{
	multiply(&(struct product){ .c = c,
	    .a = a,
	    .b = nn_f32(b),
	    .ldc = N,
	    .lda = a_transposed ? M : K,
	    .ldb = b_transposed ? K : N,
	    .M = M,
	    .N = N,
	    .K = K,
	    .a_transposed = a_transposed,
	    .b_transposed = b_transposed,
	    .alpha = alpha,
	    .beta = beta });
}

void
nn_product_nt(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, false, b, true, M, N, K, alpha, beta);
}

void
nn_product_nn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, false, b, false, M, N, K, alpha, beta);
}

void
nn_product_tn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, true, b, false, M, N, K, alpha, beta);
}

double
nn_product_error(size_t K)
{
	return ((double)K + 4) * 0x1p-24;
}
