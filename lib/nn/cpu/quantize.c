#include "nn/cpu/quantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/microkernel.h"

enum { AHEAD = 1024 }; /* floats that are fetched ahead */

NN_INLINE float
mapped(const float *x, const struct row_map *map, size_t c)
{
	float value = map->shift ? x[c] - map->shift[c] : x[c];

	return map->smooth ? value * map->smooth[c] : value;
}

/* Least and greatest of a row and 0, and NaN if a value is not finite; by SIMD lane, because clang makes no vector code of a
 * minimum and maximum over a whole row. */
struct row_extent {
	float least[NN_LANES], most[NN_LANES], wrong[NN_LANES];
};

NN_INLINE void
extend(struct row_extent *extent, const float *x, const struct row_map *map, size_t c,
    size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		float value = mapped(x, map, c + i);
		extent->least[i] = value < extent->least[i] ? value : extent->least[i];
		extent->most[i] = value > extent->most[i] ? value : extent->most[i];
		extent->wrong[i] += value * 0;
	}
}

/* All lanes to the first. */
NN_INLINE void
join(struct row_extent *extent)
{
	float *least = extent->least, *most = extent->most, *wrong = extent->wrong;

#pragma GCC unroll 4
	for (size_t n = NN_LANES / 2; n; n /= 2)
#pragma omp simd
		for (size_t i = 0; i < n; i++) {
			least[i] = least[i + n] < least[i] ? least[i + n] : least[i];
			most[i] = most[i + n] > most[i] ? most[i + n] : most[i];
			wrong[i] += wrong[i + n];
		}
}

/* Quantises a mapped row of x to asymmetric u8. */
NN_INLINE struct row_scale
quantize_row(
    uint8_t *to, const float *x, const struct row_map *map, size_t C, size_t ahead)
{
	const float round = 12582912.0f; /* 1.5 x 2^23: adding it rounds to an integer */
	struct row_extent lanes = { 0 };
	size_t whole = C / NN_LANES * NN_LANES;

	for (size_t c = 0; c < whole; c += NN_LANES) {
		__builtin_prefetch(x + c + ahead, 0, 3);
		extend(&lanes, x, map, c, NN_LANES);
	}
	extend(&lanes, x, map, whole, C - whole);
	join(&lanes);
	float least = *lanes.least, most = *lanes.most, wrong = *lanes.wrong;
	float range = most - least, scale = range / 255;
	float inverse = scale > FLT_MIN ? 1 / scale : 0;
	float zero = (least * -inverse + round) - round, from = zero + round;
	int32_t base = nn_bits(round);
#pragma omp simd
	for (size_t c = 0; c < C; c++) {
		/* the least rounds to 0, as zero does; the greatest may round to 256 */
		int32_t rounded = nn_bits(mapped(x, map, c) * inverse + from) - base;
		to[c] = (uint8_t)(rounded > 255 ? 255 : rounded);
	}
	scale += wrong + (range <= FLT_MAX ? 0 : NAN);
	return (struct row_scale){ scale, -zero * scale };
}

/* Each with code of its own. */
static struct row_scale
quantize_any(
    uint8_t *to, const float *x, const struct row_map *map, size_t C, size_t ahead)
{
	if (map->shift)
		return quantize_row(
		    to, x, &(struct row_map){ .shift = map->shift }, C, ahead);
	if (map->smooth)
		return quantize_row(
		    to, x, &(struct row_map){ .smooth = map->smooth }, C, ahead);
	return quantize_row(to, x, &(struct row_map){ 0 }, C, ahead);
}

void
quantize_rows(char *to, struct row_scale *scales, const float *x, size_t ld,
    const struct row_map *map, size_t rows, size_t terms, size_t bytes)
{
	void (*widen)(uint16_t *, const char *, size_t, size_t) =
	    microkernel(DTYPE_I8)->widen;
	char narrow[PACKED_WIDE * NN_MAX_PACKED];
	size_t ahead = terms < ld ? 8 * ld : AHEAD;

	for (size_t r = 0; r < rows; r++, x += ld) {
		size_t first = r - r % PACKED_WIDE;
		char *row = widen ? narrow + (r - first) * bytes : to + r * bytes;
		scales[r] = quantize_any((uint8_t *)row, x, map, terms, ahead);
		memset(row + terms, 0, bytes - terms);
		if (widen && (r - first == PACKED_WIDE - 1 || r == rows - 1))
			widen((uint16_t *)(void *)to + first * bytes, narrow,
			    r - first + 1, bytes);
	}
}
