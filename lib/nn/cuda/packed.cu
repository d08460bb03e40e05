#include <cfloat>

#include "nn/cuda/gemm.h"
extern "C" {
#include "nn/host/pack.h"
}

/*
 * Memory of nn_pack: rows of values, padded to 16 bytes; for i8 then of each output a scale, the scale times the sum of the
 * output's values, and that sum times 128; and smooth[C].
 *
 * cuBLASLt multiplies signed bytes, so x is stored minus 128; the shift adds 128 times the sum of the values again.  All of it is
 * integers, so results have the bits of the CPU's kernels.
 */
namespace
{

constexpr size_t ROW = 16, SHIFT = 128;
constexpr size_t LEAST = 32; /* rows of x that cuBLASLt needs for int8 */
/* bytes of sums at once, so that L2 holds them until they are read */
constexpr size_t SUMS = (size_t)8 << 20;

struct packed_rows {
	int8_t *values;
	float *scale, *offset;
	int32_t *shift;
	float *smooth;
	size_t depth, outputs, bytes; /* of a row; filled up with zeros; of all */
};

struct packed_rows
parts_of(const void *at, enum dtype kind, size_t O, size_t C)
{
	struct packed_rows p = {};

	p.values = (int8_t *)at;
	p.depth = kind == DTYPE_F32 ? C * sizeof(float)
				    : round_up(C * (kind == DTYPE_I8 ? 1 : 2), ROW);
	p.outputs = kind == DTYPE_I8 ? round_up(O, ROW) : O;
	p.bytes = p.outputs * p.depth;
	if (kind == DTYPE_I8) {
		p.scale = (float *)(p.values + p.bytes);
		p.offset = p.scale + p.outputs;
		p.shift = (int32_t *)(p.offset + p.outputs);
		p.smooth = (float *)(p.shift + p.outputs);
		p.bytes += round_up(3 * p.outputs + C, ROW) * sizeof(float);
	}
	return p;
}

/* Writes the arrays after the values of i8. */
void
upload_tables(const struct packed_rows *p, const struct pack_output *outputs,
    const float *smooth, size_t O, size_t C)
{
	struct packed_rows host = {};
	size_t bytes = (size_t)((int8_t *)p->smooth - (int8_t *)p->scale);

	host.scale = (float *)mem_zero(bytes ? bytes : 1, 1);
	host.offset = host.scale + p->outputs;
	host.shift = (int32_t *)(host.offset + p->outputs);
	for (size_t o = 0; o < O; o++) {
		host.scale[o] = outputs[o].scale;
		host.offset[o] = outputs[o].scale * (float)outputs[o].sum;
		host.shift[o] = outputs[o].sum * (int32_t)SHIFT;
	}
	nn_upload(p->scale, host.scale, bytes);
	nn_upload(p->smooth, smooth, C * sizeof *smooth);
	free(host.scale);
}

/* Rows of x. ----------------------------------------------------------------------- */

constexpr int ROWS = BLOCK / WARP, FOUR = 4;

/* x[t,c] smooth[c] = (value + 128) scale + base */
struct row_scale {
	float scale, base;
};

/* Four columns of a row of x, smoothed; 0 beyond its end. */
__device__ __forceinline__ void
take_four(float *to, const float *x, const float *smooth, size_t c, size_t C, bool wide)
{
	if (wide && c + FOUR <= C) {
		float4 some = *(const float4 *)(x + c),
		       by = *(const float4 *)(smooth + c);
		to[0] = some.x * by.x;
		to[1] = some.y * by.y;
		to[2] = some.z * by.z;
		to[3] = some.w * by.w;
		return;
	}
	for (int i = 0; i < FOUR; i++)
		to[i] = c + i < C ? x[c + i] * smooth[c + i] : 0;
}

/* Quantises the range from a row's least value, or 0, to its greatest to 0..255. */
struct quantizer {
	float inverse, zero;
};

/* The scale of a row that is not finite is NaN, and so are its results. */
__device__ __forceinline__ struct quantizer
quantizer_of(struct row_scale *row, float least, float most, bool finite)
{
	const float round = 12582912.0f; /* 1.5 x 2^23: adding it rounds to an integer */
	float range = most - least, scale = range / 255;
	struct quantizer q;

	q.inverse = scale > FLT_MIN ? 1 / scale : 0;
	q.zero = fmaf(least, -q.inverse, round) - round;
	row->scale = finite && range <= FLT_MAX ? scale : NAN;
	row->base = -q.zero * row->scale;
	return q;
}

/* A warp has a row; rows beyond T are zeros. */
__global__ void
quantize_rows(int8_t *to, size_t depth, struct row_scale *rows, const float *x,
    size_t ldx, const float *smooth, bool wide, size_t T, size_t high, size_t C)
{
	const float round = 12582912.0f, low = round, top = round + 255;
	size_t t = (size_t)blockIdx.x * ROWS + threadIdx.y;
	float values[FOUR], least = 0, most = 0;
	const float *from = x + t * ldx;
	bool finite = true;

	if (t >= high)
		return;
	size_t used = t < T ? C : 0;
	for (size_t c = FOUR * threadIdx.x; c < used; c += FOUR * WARP) {
		take_four(values, from, smooth, c, C, wide);
		for (int i = 0; i < FOUR; i++) {
			least = values[i] < least ? values[i] : least;
			most = values[i] > most ? values[i] : most;
			finite = finite && fabsf(values[i]) <= FLT_MAX;
		}
	}
	least = -warp_max(-least);
	most = warp_max(most);
	finite = __all_sync(ALL_LANES, finite);
	struct row_scale row;
	struct quantizer q = quantizer_of(&row, least, most, finite);
	if (!threadIdx.x)
		rows[t] = row;
	for (size_t c = FOUR * threadIdx.x; c < depth; c += FOUR * WARP) {
		unsigned bytes = 0;
		take_four(values, from, smooth, c, used, wide);
		for (int i = 0; i < FOUR && c + i < used; i++) {
			float value = fmaf(values[i], q.inverse, q.zero + round);
			value = value < low ? low : value;
			value = value > top ? top : value;
			bytes |= ((__float_as_uint(value) & 0xff) ^ SHIFT) << 8 * i;
		}
		*(unsigned *)(to + t * depth + c) = bytes;
	}
}

/* The product. ---------------------------------------------------------------------- */

constexpr int SPAN = 4 * FOUR * WARP; /* columns of a block */

struct destination {
	float *y;
	const float *bias;
	size_t ldy;
	bool add;
};

/* y = the sums with their scales + bias, or y += them. */
__global__ void
dequantize(struct destination r, const int32_t *sums, const struct row_scale *rows,
    struct packed_rows w, bool wide, size_t T, size_t O)
{
	size_t t = (size_t)blockIdx.x * ROWS + threadIdx.y;
	size_t n = ((size_t)blockIdx.y * WARP + threadIdx.x) * FOUR;

	if (t >= T)
		return;
	struct row_scale row = rows[t];
	for (; n < O; n += (size_t)gridDim.y * WARP * FOUR) {
		int4 sum = *(const int4 *)(sums + t * w.outputs + n);
		int4 shift = *(const int4 *)(w.shift + n);
		float4 scale = *(const float4 *)(w.scale + n);
		float4 offset = *(const float4 *)(w.offset + n);
		int exact[] = { sum.x + shift.x, sum.y + shift.y, sum.z + shift.z,
			sum.w + shift.w };
		float scales[] = { scale.x, scale.y, scale.z, scale.w };
		float offsets[] = { offset.x, offset.y, offset.z, offset.w };
		float *y = r.y + t * r.ldy + n, done[FOUR] = {};
		for (int i = 0; i < FOUR && n + i < O; i++) {
			float before = r.add ? y[i] : r.bias ? r.bias[n + i] : 0;
			done[i] = fmaf((float)exact[i], row.scale * scales[i],
			    fmaf(row.base, offsets[i], before));
		}
		if (wide && n + FOUR <= O)
			*(float4 *)y = make_float4(done[0], done[1], done[2], done[3]);
		else
			for (int i = 0; i < FOUR && n + i < O; i++)
				y[i] = done[i];
	}
}

/* T rows of x, padded to `high` rows. */
void
rows_product(struct destination r, const float *x, size_t ldx,
    const struct packed_rows *w, int8_t *bytes, struct row_scale *rows, int32_t *sums,
    size_t T, size_t high, size_t C, size_t O)
{
	bool wide_x = (uintptr_t)x % 16 == 0 && ldx % 4 == 0;
	bool wide_y = (uintptr_t)r.y % 16 == 0 && r.ldy % 4 == 0;
	unsigned across = device_blocks(O, SPAN);
	struct cublas_gemm p = {};

	device_launch(quantize_rows, device_blocks(high, ROWS), dim3(WARP, ROWS), 0,
	    bytes, w->depth, rows, x, ldx, w->smooth, wide_x, T, high, C);
	p.c = sums;
	p.a = bytes;
	p.b = w->values;
	p.ldc = p.N = w->outputs;
	p.lda = p.ldb = p.K = w->depth;
	p.M = high;
	p.kind = GEMM_I8;
	p.b_transposed = true;
	cublas_gemm(&p);
	device_launch(dequantize,
	    dim3(device_blocks(T, ROWS), across < 1 << 15 ? across : 1 << 15),
	    dim3(WARP, ROWS), 0, r, sums, rows, *w, wide_y, T, O);
}

/* absmax[c] = the bits of the greatest |x[:,c]|; as integers they have the order of the floats. */
__global__ void
column_absmax(unsigned *absmax, const float *x, size_t ldx, size_t T, size_t C)
{
	__shared__ float room[ROWS][WARP];
	size_t c = (size_t)blockIdx.x * WARP + threadIdx.x;
	float most = 0;

	for (size_t t = (size_t)blockIdx.y * ROWS + threadIdx.y; c < C && t < T;
	     t += (size_t)gridDim.y * ROWS) {
		float size = fabsf(x[t * ldx + c]);
		most = size > most ? size : most;
	}
	room[threadIdx.y][threadIdx.x] = most;
	__syncthreads();
	if (threadIdx.y || c >= C)
		return;
	for (int i = 1; i < ROWS; i++)
		most = room[i][threadIdx.x] > most ? room[i][threadIdx.x] : most;
	atomicMax(absmax + c, __float_as_uint(most));
}
} // namespace

size_t
nn_packed_size(enum dtype kind, size_t O, size_t C)
{
	return parts_of(NULL, kind, O, C).bytes;
}

const char *
nn_packed_layout(void)
{
	return "rows";
}

bool
nn_supports(enum dtype kind)
{
	return kind == DTYPE_F32 || kind == DTYPE_BF16 || kind == DTYPE_I8;
}

bool
nn_is_slow(enum dtype kind)
{
	(void)kind;
	return false;
}

bool
nn_pack(void *to, enum dtype kind, const void *host, enum dtype dtype, bool transposed,
    const float *absmax, size_t O, size_t C)
{
	constexpr size_t STEP = (size_t)16 << 20; /* bytes at once */
	const struct pack from = { host, dtype, transposed, O, C };
	struct packed_rows p = parts_of(to, kind, O, C);
	size_t rows = p.depth < STEP ? STEP / (p.depth ? p.depth : 1) : 1;
	bool integers = kind == DTYPE_I8, finite = true;
	float *smooth = (float *)mem_zero(integers ? C + 1 : 1, sizeof *smooth);
	struct pack_output *outputs =
	    (struct pack_output *)mem_zero(integers ? O + 1 : 1, sizeof *outputs);

	rows = rows < O ? rows : O;
	char *some = (char *)mem_new(rows + 1, p.depth + 1);
	if (integers)
		pack_smooth(smooth, absmax, &from);
	for (size_t o = 0; o < O && finite; o += rows) {
		size_t count = O - o < rows ? O - o : rows;
		finite = pack_rows(some, p.depth, kind, integers ? outputs + o : NULL,
		    smooth, &from, o, count);
		nn_upload(p.values + o * p.depth, some, count * p.depth);
	}
	if (integers && finite) {
		size_t rest = (p.outputs - O) * p.depth;
		memset(some, 0, p.depth);
		for (size_t done = 0; done < rest; done += p.depth)
			nn_upload(p.values + O * p.depth + done, some, p.depth);
		upload_tables(&p, outputs, smooth, O, C);
	}
	free(some);
	free(smooth);
	free(outputs);
	return finite;
}

void
nn_column_absmax(float *absmax, const float *x, size_t ldx, size_t T, size_t C)
{
	constexpr size_t HIGH = 1 << 9; /* rows of a block, unless the grid is full */
	size_t down = (T + HIGH - 1) / HIGH;
	scratch<unsigned> absmax_bits(C);

	if (!T || !C)
		return;
	float *found = (float *)mem_new(C, sizeof *found);
	nn_zero((float *)absmax_bits.at, C);
	device_launch(column_absmax,
	    dim3(device_blocks(C, WARP), (unsigned)(down < 1 << 15 ? down : 1 << 15)),
	    dim3(WARP, ROWS), 0, absmax_bits.at, x, ldx, T, C);
	nn_download(found, absmax_bits.at, C * sizeof *found);
	for (size_t c = 0; c < C; c++)
		absmax[c] = found[c] > absmax[c] ? found[c] : absmax[c];
	free(found);
}

void
gemm_packed_i8(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *bias, bool add, size_t T, size_t C, size_t O)
{
	struct packed_rows p = parts_of(w.at, DTYPE_I8, O, C);
	size_t step = SUMS / p.outputs / LEAST * LEAST;

	step = step < LEAST ? LEAST : step;
	size_t most = round_up(T < step ? T : step, LEAST);
	scratch<int8_t> bytes(most * p.depth);
	scratch<struct row_scale> rows(most);
	scratch<int32_t> sums(most * p.outputs);
	for (size_t t = 0; t < T; t += step) {
		size_t some = T - t < step ? T - t : step;
		struct destination result = { y + t * ldy, bias, ldy, add };
		rows_product(result, x + t * ldx, ldx, &p, bytes.at, rows.at, sums.at,
		    some, round_up(some, LEAST), C, O);
	}
}
