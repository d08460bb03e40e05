#include "nn/nn.h"

#include <math.h>

#include "nn/cpu/sum.h"

/* One row: s = x + r, y = norm(s) w + b.  The deviation is taken in a second pass over the
 * row, which is in cache: E[x^2] - E[x]^2 would lose digits. */
static void
norm_row(float *y, float *s, float *stats, const float *x, const float *r, const float *w,
    const float *b, float eps, enum nn_norm kind, size_t C)
{
	for (size_t c = 0; c < C; c++)
		s[c] = r ? x[c] + r[c] : x[c];
	float mean = kind == NN_LAYERNORM ? nn_total(s, C) / (float)C : 0;
	float plus = kind == NN_RMSNORM_PLUS;
	float scale = 1 / sqrtf(nn_spread(s, mean, C) / (float)C + eps);
	if (stats) {
		stats[0] = mean;
		stats[1] = scale;
	}
	if (w && b) {
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] = (s[c] - mean) * scale * (plus + w[c]) + b[c];
	} else if (w) {
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] = (s[c] - mean) * scale * (plus + w[c]);
	} else {
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] = (s[c] - mean) * scale + (b ? b[c] : 0);
	}
}

void
nn_norm(float *y, float *s, float *stats, const float *x, const float *r, const float *w,
    const float *b, float eps, enum nn_norm kind, size_t T, size_t C)
{
	/* without s the sum is stored in y, and norm_row reads it before it writes y */
#pragma omp parallel for schedule(static) if (nn_shared(T, C))
	for (size_t t = 0; t < T; t++)
		norm_row(y + t * C, (s ? s : y) + t * C, stats ? stats + 2 * t : NULL,
		    x + t * C, r ? r + t * C : NULL, w, b, eps, kind, C);
}

void
nn_norm_heads(float *y, size_t ldy, float *stats, const float *x, size_t ldx,
    const float *w, const float *b, float eps, enum nn_norm kind, size_t T, size_t heads,
    size_t D)
{
#pragma omp parallel for schedule(static) if (nn_shared(T, heads * D))
	for (size_t t = 0; t < T; t++)
		for (size_t h = 0; h < heads; h++) {
			float *row = y + t * ldy + h * D;
			norm_row(row, row, stats ? stats + 2 * (t * heads + h) : NULL,
			    x + t * ldx + h * D, NULL, w, b, eps, kind, D);
		}
}

/* Rows of a gradient and of a norm's input: `heads` segments of D columns in each of T tokens. */
struct norm_rows {
	const float *dy, *s, *stats;
	size_t ldy, lds, T, heads, D;
};

/* Adds dy (s - mean) scale of one row to weight, dy to bias.  gcc makes vector code of it because the arrays are restrict. */
NN_INLINE void
add_row(double *restrict weight, double *restrict bias, const float *restrict dy,
    const float *restrict s, float mean, float scale, size_t width)
{
#pragma omp simd
	for (size_t c = 0; c < width; c++) {
		weight[c] += (double)(dy[c] * ((s[c] - mean) * scale));
		bias[c] += (double)dy[c];
	}
}

/* dw += sum of dy (s - mean) scale, db += sum of dy over the rows, `width` columns */
static void
norm_parameters(
    float *dw, float *db, const struct norm_rows *rows, size_t from, size_t width)
{
	double weight[NN_COLUMNS] = { 0 }, bias[NN_COLUMNS] = { 0 };

	for (size_t i = 0; i < rows->T * rows->heads; i++) {
		size_t t = i / rows->heads, at = i % rows->heads * rows->D + from;
		const float *dy = rows->dy + t * rows->ldy + at;
		const float *s = rows->s + t * rows->lds + at;
		float mean = rows->stats[2 * i], scale = rows->stats[2 * i + 1];
		/* so that the compiler knows the width that most calls have */
		if (width == NN_COLUMNS)
			add_row(weight, bias, dy, s, mean, scale, NN_COLUMNS);
		else
			add_row(weight, bias, dy, s, mean, scale, width);
	}
	for (size_t c = 0; c < width; c++) {
		if (dw)
			dw[from + c] += (float)weight[c];
		if (db)
			db[from + c] += (float)bias[c];
	}
}

/* With g = dy w and z = (s - mean) scale:
 * ds = scale (g - mean(g) - z mean(g z)), without mean(g) for RMSNorm. */
static void
norm_row_back(float *ds, const float *dy, const float *s, const float *stats,
    const float *w, enum nn_norm kind, size_t C)
{
	nn_sixteen sums = { 0 }, products = { 0 }, gradient, weight, z;
	float mean = stats[0], scale = stats[1], plus = kind == NN_RMSNORM_PLUS;

	for (size_t c = 0; c < C; c += NN_SIXTEEN) {
		nn_take(&gradient, dy + c, nn_some(C, c), 0);
		nn_take(&z, s + c, nn_some(C, c), mean);
		if (w) {
			nn_take(&weight, w + c, nn_some(C, c), 0);
			gradient *= weight + plus;
		}
		z = (z - mean) * scale;
		sums += gradient;
		products += gradient * z;
	}
	float sum = kind == NN_LAYERNORM ? nn_fold(&sums) / (float)C : 0;
	float product = nn_fold(&products) / (float)C;
#pragma omp simd
	for (size_t c = 0; c < C; c++) {
		float g = w ? dy[c] * (w[c] + plus) : dy[c];
		ds[c] = scale * (g - sum - (s[c] - mean) * scale * product);
	}
}

static void
norm_back(float *ds, float *dw, float *db, const struct norm_rows *rows, const float *w,
    enum nn_norm kind)
{
	size_t D = rows->D, n = rows->T * rows->heads;

	/* before ds, because ds may be dy */
	if (dw || db) {
		const size_t step = nn_column_step(D);
#pragma omp parallel for schedule(static) if (nn_shared(nn_blocks(D, step), n * step))
		for (size_t from = 0; from < D; from += step)
			norm_parameters(
			    dw, db, rows, from, D - from < step ? D - from : step);
	}
	if (ds) {
#pragma omp parallel for schedule(static) if (nn_shared(n, D))
		for (size_t i = 0; i < n; i++) {
			size_t t = i / rows->heads, h = i % rows->heads;
			size_t at = t * rows->ldy + h * D;
			norm_row_back(ds + at, rows->dy + at,
			    rows->s + t * rows->lds + h * D, rows->stats + 2 * i, w, kind,
			    D);
		}
	}
}

void
nn_norm_back(float *ds, float *dw, float *db, const float *dy, const float *s,
    const float *stats, const float *w, enum nn_norm kind, size_t T, size_t C)
{
	norm_back(
	    ds, dw, db, &(struct norm_rows){ dy, s, stats, C, C, T, 1, C }, w, kind);
}

void
nn_norm_heads_back(float *dx, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, const float *stats, const float *w, enum nn_norm kind,
    size_t T, size_t heads, size_t D)
{
	norm_back(dx, dw, db, &(struct norm_rows){ dy, x, stats, ldy, ldx, T, heads, D },
	    w, kind);
}

void
nn_normalize(float *y, float *lengths, const float *x, size_t N, size_t C)
{
#pragma omp parallel for schedule(static) if (nn_shared(N, C))
	for (size_t i = 0; i < N; i++) {
		const float *row = x + i * C;
		float length = sqrtf(nn_dot(row, row, C));
		length = length < 1e-12f ? 1e-12f : length;
		if (lengths)
			lengths[i] = length;
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[i * C + c] = row[c] / length;
	}
}

void
nn_normalize_back(
    float *dx, const float *dy, const float *y, const float *lengths, size_t N, size_t C)
{
#pragma omp parallel for schedule(static) if (nn_shared(N, C))
	for (size_t i = 0; i < N; i++) {
		const float *g = dy + i * C, *row = y + i * C;
		float along = nn_dot(row, g, C);
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			dx[i * C + c] = (g[c] - row[c] * along) / lengths[i];
	}
}
