#include "nn/cpu/int8.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/tile.h"

/*
 * Memory of nn_pack: the panels of values, then for each output a scale and its product with the sum of
 * the output's values, then for each input what x is multiplied by; all filled up with zeros.
 */
struct packed {
	int8_t *values;
	float *scale, *offset, *smooth;
	size_t K, bytes;
};

static size_t
up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static struct packed
parts_of(const void *at, size_t O, size_t C)
{
	struct packed p = { .values = (int8_t *)at, .K = up(C, BYTES_DEPTH) };
	size_t outputs = up(O, BYTES_PANEL);

	p.scale = (float *)(p.values + outputs * p.K);
	p.offset = p.scale + outputs;
	p.smooth = p.offset + outputs;
	p.bytes = up(outputs * p.K + (2 * outputs + p.K) * sizeof(float), 64);
	return p;
}

size_t
nn_packed_size(size_t O, size_t C)
{
	return parts_of(NULL, O, C).bytes;
}

/* Packing. ------------------------------------------------------------------------- */

/* Row o of the matrix, or of what it is turned from. */
static void
take_row(float *to, const char *from, enum dtype dtype, bool turned, size_t o, size_t O,
    size_t C)
{
	size_t size = dtype_size(dtype);

	if (!turned) {
		tensor_to_f32(to, from + o * C * size, dtype, C);
		return;
	}
	for (size_t c = 0; c < C; c++)
		tensor_to_f32(to + c, from + (c * O + o) * size, dtype, 1);
}

/* One output to its place in a panel; false when it is not finite. */
static bool
pack_row(const struct packed *p, size_t o, float *row, size_t C)
{
	int8_t *to =
	    p->values + o / BYTES_PANEL * BYTES_PANEL * p->K + o % BYTES_PANEL * 4;
	float most = 0;
	int32_t sum = 0;

	for (size_t c = 0; c < C; c++) {
		row[c] /= p->smooth[c];
		if (!(fabsf(row[c]) <= FLT_MAX))
			return false;
		most = fabsf(row[c]) > most ? fabsf(row[c]) : most;
	}
	float step = most / 127 > FLT_MIN ? most / 127 : FLT_MIN;
	for (size_t c = 0; c < C; c++) {
		int8_t value = (int8_t)rintf(row[c] / step);
		to[c / 4 * 4 * BYTES_PANEL + c % 4] = value;
		sum += value;
	}
	p->scale[o] = step;
	p->offset[o] = step * (float)sum;
	return true;
}

/* smooth[c], from how far the columns of the weights reach. */
static void
smooth(const struct packed *p, const float *most, size_t C)
{
	for (size_t c = 0; c < C; c++) {
		float by = most ? sqrtf(p->smooth[c] / most[c]) : 1;
		p->smooth[c] = by > FLT_MIN && by <= FLT_MAX ? by : 1;
	}
}

bool
nn_pack(void *to, const void *host, enum dtype dtype, bool turned, const float *most,
    size_t O, size_t C)
{
	struct packed p = parts_of(to, O, C);
	bool finite = true;

	memset(to, 0, p.bytes);
#pragma omp parallel if (O * C > NN_SERIAL)
	{
		float row[NN_MAX_PACKED], reach[NN_MAX_PACKED];
		memset(reach, 0, C * sizeof *reach);
#pragma omp for schedule(static)
		for (size_t o = 0; o < O; o++) {
			take_row(row, host, dtype, turned, o, O, C);
			nn_column_most(reach, row, C, 1, C);
		}
#pragma omp critical
		nn_column_most(p.smooth, reach, C, 1, C);
#pragma omp barrier
#pragma omp single
		smooth(&p, most, C);
#pragma omp for schedule(static) reduction(&& : finite)
		for (size_t o = 0; o < O; o++) {
			take_row(row, host, dtype, turned, o, O, C);
			finite = pack_row(&p, o, row, C) && finite;
		}
	}
	return finite;
}

void
nn_column_most(float *most, const float *x, size_t ldx, size_t T, size_t C)
{
	for (size_t t = 0; t < T; t++)
#pragma omp simd
		for (size_t c = 0; c < C; c++) {
			float size = fabsf(x[t * ldx + c]);
			most[c] = size > most[c] ? size : most[c];
		}
}

/* Rows of x. ----------------------------------------------------------------------- */

/* x[t,c] smooth[c] = value scale + base */
struct row {
	float scale, base;
};

/* How far a row reaches on both sides of 0, and 0, or no number where it holds what is not finite; lane by lane, because clang
 * turns no least and greatest of a whole row into vector code. */
struct reach {
	float least[NN_LANES], most[NN_LANES], wrong[NN_LANES];
};

NN_INLINE void
take_reach(struct reach *reach, const float *x, const float *by, size_t width)
{
#pragma omp simd
	for (size_t i = 0; i < width; i++) {
		float value = x[i] * by[i];
		reach->least[i] = value < reach->least[i] ? value : reach->least[i];
		reach->most[i] = value > reach->most[i] ? value : reach->most[i];
		reach->wrong[i] += value * 0;
	}
}

/*
 * A row in bytes, 0 to 255 from its least value, or 0, to its greatest; of one that is not finite
 * the scale is no number, so that what comes of it is none.
 */
static struct row
quantize_row(uint8_t *to, const float *x, const float *by, size_t C, size_t K)
{
	const float round = 12582912.0f; /* 1.5 x 2^23: adding it rounds to an integer */
	float least = 0, most = 0, wrong = 0;
	struct reach reach = { 0 };
	size_t whole = C / NN_LANES * NN_LANES;

	for (size_t c = 0; c < whole; c += NN_LANES)
		take_reach(&reach, x + c, by + c, NN_LANES);
	take_reach(&reach, x + whole, by + whole, C - whole);
	for (size_t i = 0; i < NN_LANES; i++) {
		least = reach.least[i] < least ? reach.least[i] : least;
		most = reach.most[i] > most ? reach.most[i] : most;
		wrong += reach.wrong[i];
	}
	float range = most - least, scale = range / 255;
	float inverse = scale > FLT_MIN ? 1 / scale : 0;
	float zero = (least * -inverse + round) - round;
	float low = round, high = round + 255;
#pragma omp simd
	for (size_t c = 0; c < C; c++) {
		float value = x[c] * by[c] * inverse + (zero + round);
		value = value < low ? low : value;
		value = value > high ? high : value;
		to[c] = (uint8_t)nn_bits(value);
	}
	memset(to + C, 0, K - C);
	scale += wrong + (range <= FLT_MAX ? 0 : NAN);
	return (struct row){ scale, -zero * scale };
}

/* The product. ---------------------------------------------------------------------- */

enum {
	STRIP = 96,			     /* rows of x at a time */
	BYTES = BYTES_HEIGHT * NN_MAX_PACKED /* that they have at most */
};

struct job {
	float *y;
	const float *x, *bias;
	struct packed w;
	size_t ldy, ldx, T, C, O;
	const enum nn_act *act;
	bool add;
};

/* y = sums scale_x scale_w + base_x offset_w + bias */
static void
put_row(const struct job *job, const int32_t *sums, const struct row *row, size_t t,
    size_t n, size_t width)
{
	const float *scale = job->w.scale + n, *offset = job->w.offset + n;
	float *y = job->y + t * job->ldy + n;

	if (job->add) {
#pragma omp simd
		for (size_t i = 0; i < width; i++)
			y[i] += (float)sums[i] * (row->scale * scale[i]) +
				row->base * offset[i];
		return;
	}
	if (job->bias) {
		const float *bias = job->bias + n;
#pragma omp simd
		for (size_t i = 0; i < width; i++)
			y[i] = (float)sums[i] * (row->scale * scale[i]) +
			       (row->base * offset[i] + bias[i]);
	} else {
#pragma omp simd
		for (size_t i = 0; i < width; i++)
			y[i] = (float)sums[i] * (row->scale * scale[i]) +
			       row->base * offset[i];
	}
	if (job->act)
		nn_activate_serial(y, y, *job->act, width);
}

/* Rows t.. of y, in the columns n0..n1-1. */
static void
put_strip(const struct job *job, const struct int8_kernel *kernel, const uint8_t *strip,
    const struct row *rows, size_t t, size_t count, size_t n0, size_t n1)
{
	_Alignas(64) int32_t sums[BYTES_HEIGHT * BYTES_WIDTH];

	for (size_t n = n0; n < n1; n += BYTES_WIDTH) {
		size_t width = n1 - n < BYTES_WIDTH ? n1 - n : BYTES_WIDTH;
		for (size_t r = 0; r < count; r += kernel->rows) {
			size_t some = count - r < kernel->rows ? count - r : kernel->rows;
			kernel->sums(sums, strip + r * job->w.K, job->w.K,
			    job->w.values + n * job->w.K,
			    (width + BYTES_PANEL - 1) / BYTES_PANEL, some, job->w.K);
			for (size_t i = 0; i < some; i++)
				put_row(job, sums + i * BYTES_WIDTH, rows + r + i,
				    t + r + i, n, width);
		}
	}
}

static void
rectangle(const struct job *job, const struct int8_kernel *kernel, size_t t0, size_t t1,
    size_t n0, size_t n1)
{
	_Alignas(64) uint8_t strip[BYTES];
	struct row rows[STRIP];
	size_t most = BYTES / job->w.K / BYTES_HEIGHT * BYTES_HEIGHT;
	size_t step = most < STRIP ? most : STRIP;

	for (size_t t = t0; t < t1; t += step) {
		size_t count = t1 - t < step ? t1 - t : step;
		for (size_t r = 0; r < count; r++)
			rows[r] = quantize_row(strip + r * job->w.K,
			    job->x + (t + r) * job->ldx, job->w.smooth, job->C, job->w.K);
		put_strip(job, kernel, strip, rows, t, count, n0, n1);
	}
}

void
nn_linear_packed(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *bias, const enum nn_act *act, bool add, size_t T, size_t C, size_t O)
{
	const struct int8_kernel *kernel = int8_kernel();
	const struct job job = { .y = y,
		.x = x,
		.bias = bias,
		.w = parts_of(w.at, O, C),
		.ldy = ldy,
		.ldx = ldx,
		.T = T,
		.C = C,
		.O = O,
		.act = act,
		.add = add };

#pragma omp parallel if (T * O * C > 1 << 21)
	{
		size_t threads = (size_t)omp_get_num_threads();
		size_t thread = (size_t)omp_get_thread_num();
		/* along the rows, so that each is made bytes once; few rows along the columns */
		bool across = T < threads * 16;
		size_t all = up(across ? O : T, across ? BYTES_WIDTH : 1);
		size_t unit = across ? BYTES_WIDTH : 1;
		size_t from = all / unit * thread / threads * unit;
		size_t to = all / unit * (thread + 1) / threads * unit;
		if (across)
			to = to < O ? to : O;
		if (kernel->begin)
			kernel->begin();
		if (from < to)
			rectangle(&job, kernel, across ? 0 : from, across ? T : to,
			    across ? from : 0, across ? to : O);
		if (kernel->end)
			kernel->end();
	}
}
