#include "nn/cpu/packed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/microkernel.h"
#include "nn/host/pack.h"

struct packed_matrix
packed_parts(const void *at, enum dtype dtype, size_t O, size_t C)
{
	struct packed_matrix p = { .values = (char *)at,
		.depth = nn_round_up(C * dtype_size(dtype), PACKED_DEPTH) };
	size_t outputs = nn_round_up(O, PACKED_PANEL);

	p.bytes = outputs * p.depth;
	if (dtype == DTYPE_I8) {
		p.scale = (float *)(p.values + p.bytes);
		p.offset = p.scale + outputs;
		p.smooth = p.offset + outputs;
		p.bytes += nn_round_up((2 * outputs + C) * sizeof(float), 64);
	}
	return p;
}

size_t
nn_packed_size(enum dtype dtype, size_t O, size_t C)
{
	return dtype == DTYPE_F32 ? nn_packed_floats(O, C) * sizeof(float)
				  : packed_parts(NULL, dtype, O, C).bytes;
}

const char *
nn_packed_layout(void)
{
	return "panels of 16 by 4 bytes";
}

bool
nn_supports(enum dtype dtype)
{
	return dtype == DTYPE_F32 || microkernel(dtype) != NULL;
}

bool
nn_is_slow(enum dtype dtype)
{
	return dtype != DTYPE_F32 && microkernel(dtype) &&
	       !microkernel_quicker(microkernel(dtype));
}

/* Where value c of output o is. */
static char *
value_at(const struct packed_matrix *p, size_t o, size_t c, size_t size)
{
	size_t byte = c * size;

	return p->values + o / PACKED_PANEL * PACKED_PANEL * p->depth +
	       byte / 4 * 4 * PACKED_PANEL + o % PACKED_PANEL * 4 + byte % 4;
}

/* One output; false if it is not finite. */
static bool
put_i8(const struct packed_matrix *p, size_t o, float *row, size_t C)
{
	int8_t values[NN_MAX_PACKED];
	struct pack_output output;

	if (!pack_i8(values, &output, row, p->smooth, C))
		return false;
	memset(values + C, 0, nn_round_up(C, 4) - C);
	for (size_t c = 0; c < C; c += 4)
		memcpy(value_at(p, o, c, 1), values + c, 4);
	p->scale[o] = output.scale;
	p->offset[o] = output.scale * (float)output.sum;
	return true;
}

static bool
put_bf16(const struct packed_matrix *p, size_t o, const float *row, size_t C)
{
	bool finite = true;

	for (size_t c = 0; c < C; c++) {
		uint16_t value = nn_bf16(row[c]);
		memcpy(value_at(p, o, c, sizeof value), &value, sizeof value);
		finite = finite && fabsf(row[c]) <= FLT_MAX;
	}
	return finite;
}

bool
nn_pack(void *to, enum dtype kind, const void *host, enum dtype dtype, bool transposed,
    const float *absmax, size_t O, size_t C)
{
	const struct pack from = { host, dtype, transposed, O, C };
	struct packed_matrix p = packed_parts(to, kind, O, C);
	bool finite = true;

	if (kind == DTYPE_F32) {
		nn_pack_floats(to, (struct nn_matrix){ .at = host, .dtype = dtype },
		    transposed, O, C);
		return true;
	}
	memset(to, 0, p.bytes);
	if (kind == DTYPE_I8)
		pack_smooth(p.smooth, absmax, &from);
#pragma omp parallel for schedule(static) reduction(&& : finite) if (O * C > NN_SERIAL)
	for (size_t o = 0; o < O; o++) {
		float row[NN_MAX_PACKED];
		pack_row(row, &from, o);
		finite = (kind == DTYPE_I8 ? put_i8(&p, o, row, C)
					   : put_bf16(&p, o, row, C)) &&
			 finite;
	}
	return finite;
}

void
nn_column_absmax(float *absmax, const float *x, size_t ldx, size_t T, size_t C)
{
	for (size_t t = 0; t < T; t++)
#pragma omp simd
		for (size_t c = 0; c < C; c++) {
			float size = fabsf(x[t * ldx + c]);
			absmax[c] = size > absmax[c] ? size : absmax[c];
		}
}
