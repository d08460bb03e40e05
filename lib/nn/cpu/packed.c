#include "nn/cpu/packed.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/halves.h"
#include "nn/cpu/tile.h"
#include "nn/host/pack.h"

/*
 * Memory of nn_pack: the panels of values; of bytes then for each output a scale and its product with the sum of
 * the output's values, and for each input what x is multiplied by; all filled up with zeros.
 */
struct packed {
	char *values;
	float *scale, *offset, *smooth;
	size_t depth, bytes; /* of a row; of all */
};

static size_t
up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static struct packed
parts_of(const void *at, enum dtype dtype, size_t O, size_t C)
{
	struct packed p = { .values = (char *)at,
		.depth = up(C * dtype_size(dtype), PACKED_DEPTH) };
	size_t outputs = up(O, PACKED_PANEL);

	p.bytes = outputs * p.depth;
	if (dtype == DTYPE_I8) {
		p.scale = (float *)(p.values + p.bytes);
		p.offset = p.scale + outputs;
		p.smooth = p.offset + outputs;
		p.bytes += up((2 * outputs + C) * sizeof(float), 64);
	}
	return p;
}

size_t
nn_packed_size(enum dtype dtype, size_t O, size_t C)
{
	return dtype == DTYPE_F32 ? nn_packed_floats(O, C) * sizeof(float)
				  : parts_of(NULL, dtype, O, C).bytes;
}

const char *
nn_packed_layout(void)
{
	return "panels of 16 by 4 bytes";
}

bool
nn_supports(enum dtype dtype)
{
	return dtype == DTYPE_F32 || packed_kernel(dtype) != NULL;
}

/* Packing. ------------------------------------------------------------------------- */

/* Where value c of output o is. */
static char *
place(const struct packed *p, size_t o, size_t c, size_t size)
{
	size_t byte = c * size;

	return p->values + o / PACKED_PANEL * PACKED_PANEL * p->depth +
	       byte / 4 * 4 * PACKED_PANEL + o % PACKED_PANEL * 4 + byte % 4;
}

/* One output in bytes; false when it is not finite. */
static bool
put_output(const struct packed *p, size_t o, float *row, size_t C)
{
	int8_t values[NN_MAX_PACKED];
	struct pack_output output;

	if (!pack_bytes(values, &output, row, p->smooth, C))
		return false;
	memset(values + C, 0, up(C, 4) - C);
	for (size_t c = 0; c < C; c += 4)
		memcpy(place(p, o, c, 1), values + c, 4);
	p->scale[o] = output.scale;
	p->offset[o] = output.scale * (float)output.sum;
	return true;
}

/* The same in halves of floats. */
static bool
pack_halves(const struct packed *p, size_t o, const float *row, size_t C)
{
	bool finite = true;

	for (size_t c = 0; c < C; c++) {
		uint16_t value = nn_half(row[c]);
		memcpy(place(p, o, c, sizeof value), &value, sizeof value);
		finite = finite && fabsf(row[c]) <= FLT_MAX;
	}
	return finite;
}

bool
nn_pack(void *to, enum dtype kind, const void *host, enum dtype dtype, bool transposed,
    const float *most, size_t O, size_t C)
{
	const struct pack from = { host, dtype, transposed, O, C };
	struct packed p = parts_of(to, kind, O, C);
	bool finite = true;

	if (kind == DTYPE_F32) {
		nn_pack_floats(
		    to, (struct nn_matrix){ .at = host, .dtype = dtype }, transposed, O, C);
		return true;
	}
	memset(to, 0, p.bytes);
	if (kind == DTYPE_I8)
		pack_smooth(p.smooth, most, &from);
#pragma omp parallel for schedule(static) reduction(&& : finite) if (O * C > NN_SERIAL)
	for (size_t o = 0; o < O; o++) {
		float row[NN_MAX_PACKED];
		pack_row(row, &from, o);
		finite = (kind == DTYPE_I8 ? put_output(&p, o, row, C)
					   : pack_halves(&p, o, row, C)) &&
			 finite;
	}
	return finite;
}

void
nn_column_absmax(float *most, const float *x, size_t ldx, size_t T, size_t C)
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
take_bytes(uint8_t *to, const float *x, const float *by, size_t C)
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
	float zero = (least * -inverse + round) - round, from = zero + round;
	int32_t base = nn_bits(round);
#pragma omp simd
	for (size_t c = 0; c < C; c++) {
		/* the least rounds to 0, as zero does; the greatest may round to 256 */
		int32_t value = nn_bits(x[c] * by[c] * inverse + from) - base;
		to[c] = (uint8_t)(value > 255 ? 255 : value);
	}
	scale += wrong + (range <= FLT_MAX ? 0 : NAN);
	return (struct row){ scale, -zero * scale };
}

/* The product. ---------------------------------------------------------------------- */

enum {
	STRIP = 96, /* rows of x at a time */
	/* that they have at most: where stacks are not limited a thread has 2 MiB of it */
	BYTES = PACKED_SQUARE * 2 * NN_MAX_PACKED
};

struct job {
	float *y;
	const float *x, *bias;
	enum dtype dtype;
	struct packed w;
	size_t ldy, ldx, T, C, O;
	const enum nn_act *act;
	bool add;
};

/* y = before + sums, of bytes with their scales, or GELU of it; before may be y. */
NN_INLINE void
put_bytes(float *y, const union packed_sum *sums, const struct row *row,
    const float *before, const float *scale, const float *offset, size_t width, bool gelu)
{
#pragma omp simd
	for (size_t i = 0; i < width; i++) {
		float value = (float)sums[i].whole * (row->scale * scale[i]) +
			      (row->base * offset[i] + before[i]);
		y[i] = gelu ? nn_gelu_coarse(value) : value;
	}
}

static void
put_halves(float *y, const union packed_sum *sums, const float *before, size_t width)
{
#pragma omp simd
	for (size_t i = 0; i < width; i++)
		y[i] = sums[i].real + before[i];
}

/* Of `width` columns, known to the compiler where they are as many as the kernel makes at once. */
NN_INLINE void
put_columns(const struct job *job, const union packed_sum *sums, const struct row *row,
    float *y, const float *before, size_t n, size_t width)
{
	const float *scale = job->w.scale + n, *offset = job->w.offset + n;

	if (job->dtype != DTYPE_I8)
		put_halves(y, sums, before, width);
	else if (job->act && *job->act == NN_GELU) {
		put_bytes(y, sums, row, before, scale, offset, width, true);
		return;
	} else
		put_bytes(y, sums, row, before, scale, offset, width, false);
	if (job->act)
		nn_activate_serial(y, y, *job->act, width);
}

static void
put_row(const struct job *job, const union packed_sum *sums, const struct row *row,
    size_t t, size_t n, size_t width)
{
	static const float zeros[PACKED_WIDTH];
	float *y = job->y + t * job->ldy + n;
	const float *before = job->add ? y : job->bias ? job->bias + n : zeros;

	if (width == PACKED_WIDTH)
		put_columns(job, sums, row, y, before, n, PACKED_WIDTH);
	else
		put_columns(job, sums, row, y, before, n, width);
}

/* Rows t.. of y, in the columns n0..n1-1. */
static void
put_strip(const struct job *job, const struct packed_kernel *kernel, const char *strip,
    const struct row *rows, size_t t, size_t count, size_t n0, size_t n1)
{
	_Alignas(64) union packed_sum sums[PACKED_HEIGHT * PACKED_WIDTH];
	size_t depth = job->w.depth;

	for (size_t n = n0; n < n1; n += PACKED_WIDTH) {
		size_t width = n1 - n < PACKED_WIDTH ? n1 - n : PACKED_WIDTH;
		size_t panels = up(width, PACKED_PANEL) / PACKED_PANEL;
		for (size_t r = 0; r < count; r += kernel->rows) {
			size_t some = count - r < kernel->rows ? count - r : kernel->rows;
			kernel->sums(sums, strip + r * depth, job->w.values + n * depth,
			    panels, some, depth);
			for (size_t i = 0; i < some; i++)
				put_row(job, sums + i * PACKED_WIDTH, rows + r + i,
				    t + r + i, n, width);
		}
	}
}

static void
rectangle(const struct job *job, const struct packed_kernel *kernel, size_t t0, size_t t1,
    size_t n0, size_t n1)
{
	_Alignas(64) char strip[BYTES];
	struct row rows[STRIP];
	size_t depth = job->w.depth, C = job->C, used = C * dtype_size(job->dtype);
	size_t most = BYTES / depth / PACKED_SQUARE * PACKED_SQUARE;
	size_t step = most < STRIP ? most : STRIP;

	for (size_t t = t0; t < t1; t += step) {
		size_t count = t1 - t < step ? t1 - t : step;
		for (size_t r = 0; r < count; r++) {
			char *to = strip + r * depth;
			const float *x = job->x + (t + r) * job->ldx;
			if (job->dtype == DTYPE_I8)
				rows[r] = take_bytes((uint8_t *)to, x, job->w.smooth, C);
			else
				nn_take_halves((uint16_t *)(void *)to, x, C);
			memset(to + used, 0, depth - used);
		}
		put_strip(job, kernel, strip, rows, t, count, n0, n1);
	}
}

void
nn_linear_packed(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *bias, const enum nn_act *act, bool add, size_t T, size_t C, size_t O)
{
	const struct packed_kernel *kernel = packed_kernel(w.dtype);
	const struct job job = { .y = y,
		.x = x,
		.bias = bias,
		.dtype = w.dtype,
		.w = parts_of(w.at, w.dtype, O, C),
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
		/* along the rows, so that each is made small once; few rows along the columns */
		bool across = T < threads * PACKED_PANEL;
		size_t unit = across ? PACKED_WIDTH : 1, all = up(across ? O : T, unit);
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
