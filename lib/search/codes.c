#include "search/codes.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/similarity.h"

/* Ranges of columns. ----------------------------------------------------------------- */

struct column_range {
	double least, most, sum, squares;
};

struct code_ranges {
	int width;
	int64_t count;
	struct column_range at[];
};

struct code_ranges *
code_ranges_new(int width)
{
	struct code_ranges *ranges = mem_zero(1,
	    sizeof *ranges + mem_multiply((size_t)width, sizeof *ranges->at, "columns"));

	ranges->width = width;
	for (int c = 0; c < width; c++)
		ranges->at[c] = (struct column_range){ DBL_MAX, -DBL_MAX, 0, 0 };
	return ranges;
}

void
code_ranges_add(struct code_ranges *ranges, const float *x)
{
	if (isnan(x[0])) /* then all are (rows_search_vector) */
		return;
	ranges->count++;
	for (int c = 0; c < ranges->width; c++) {
		struct column_range *range = &ranges->at[c];
		range->least = fmin(range->least, x[c]);
		range->most = fmax(range->most, x[c]);
		range->sum += x[c];
		range->squares += (double)x[c] * x[c];
	}
}

void
code_ranges_end(struct code_ranges *ranges, float *columns)
{
	int width = ranges->width;
	double count = (double)ranges->count;

	memset(columns, 0, 4 * (size_t)width * sizeof *columns);
	for (int c = 0; c < width && ranges->count; c++) {
		const struct column_range *range = &ranges->at[c];
		double mean = range->sum / count;
		double variance = fmax(range->squares / count - mean * mean, 0);
		columns[c] = (float)range->least;
		columns[width + c] = (float)((range->most - range->least) / 255);
		columns[2 * width + c] = (float)mean;
		columns[3 * width + c] = (float)sqrt(variance);
	}
	free(ranges);
}

/* Vectors. --------------------------------------------------------------------------- */

float
codes_encode(uint8_t *codes, uint64_t *bits, const float *x,
    const struct code_columns *columns, int width)
{
	double square = 0;

	memset(codes, 0, codes_stride(width));
	memset(bits, 0, codes_words(width) * sizeof *bits);
	if (isnan(x[0]))
		return INFINITY;
	for (int c = 0; c < width; c++) {
		double start = columns->start[c], step = columns->step[c];
		double place = step > 0 ? (x[c] - start) / step : 0;
		place = place < 0 ? 0 : place > 255 ? 255 : place;
		codes[c] = (uint8_t)(place + 0.5);
		double error = x[c] - (start + step * codes[c]);
		square += error * error;
		bits[c / 64] |= (uint64_t)(x[c] > columns->centre[c]) << c % 64;
	}
	return (float)(sqrt(square) * (1 + 0x1p-20)) + FLT_MIN;
}

void
codes_decode(float *x, const uint8_t *codes, float error,
    const struct code_columns *columns, int width)
{
	bool finite = isfinite(error);

	for (int c = 0; c < width; c++)
		x[c] =
		    finite ? columns->start[c] + columns->step[c] * (float)codes[c] : NAN;
}

/* Queries. --------------------------------------------------------------------------- */

enum { WORD = 127 * 128, PLANES_MOST = (1 << (CODES_PLANES - 1)) - 1 };
static const double SUM_MOST = 2e9;

void
code_query_planes(struct code_query *query, const float *q,
    const struct code_columns *columns, int width)
{
	const float *spread = columns->spread;
	size_t words = codes_words(width);
	double most = 0;

	query->planes = mem_zero(CODES_PLANES * words, sizeof *query->planes);
	/* not fmax, at which gcc 12 for arm64 fails with an internal error */
	for (int c = 0; c < width; c++) {
		double size = fabs((double)q[c] * spread[c]);
		most = size > most ? size : most;
	}
	if (!(most > 0) || !isfinite(most))
		return;
	for (int c = 0; c < width; c++) {
		long weight = lrint((double)q[c] * spread[c] / most * PLANES_MOST);
		for (size_t p = 0; p < CODES_PLANES; p++)
			query->planes[p * words + (size_t)c / 64] |=
			    ((uint64_t)weight >> p & 1) << c % 64;
	}
}

struct code_query
code_query_new(const float *q, const struct code_columns *columns, int width)
{
	struct code_query query = { .norm = sqrt(similarity_dot(q, q, width)) };
	size_t stride = codes_stride(width);
	double most = 0, sum = 0, starts = 0, rest = 0, losses = 0, inverse;

	query.words = mem_zero(stride, sizeof *query.words);
	query.high = mem_zero(stride, 1);
	query.low = mem_zero(stride, 1);
	for (int c = 0; c < width; c++) {
		double weight = (double)q[c] * columns->step[c];
		most = fabs(weight) > most ? fabs(weight) : most;
		sum += fabs(weight);
		starts += fabs((double)q[c] * columns->start[c]);
		query.base += (double)q[c] * columns->start[c];
	}
	if (!isfinite(query.norm) || !isfinite(query.base) || !isfinite(sum)) {
		query.norm = NAN;
		return query;
	}
	query.scale = fmax(most / WORD, 255 * sum / SUM_MOST);
	if (query.scale < DBL_MIN)
		query.scale = 1; /* words are zeros */
	inverse = 1 / query.scale;
	for (int c = 0; c < width; c++) {
		double weight = (double)q[c] * columns->step[c];
		int word = (int)lrint(weight * inverse);
		int high = (word + 64) >> 7;
		double loss = weight - query.scale * word;
		query.words[c] = (int16_t)word;
		query.high[c] = (int8_t)high;
		query.low[c] = (int8_t)(word - high * 128);
		rest += loss;
		losses += fabs(loss);
	}
	/* codes are 127.5 +- 127.5; then the rounding of floats and of the float32 score */
	query.base += 127.5 * rest;
	query.slack = 127.5 * losses + 0x1p-20 * (255 * sum + starts) + FLT_MIN;
	return query;
}

void
code_query_free(struct code_query *query)
{
	free(query->words);
	free(query->high);
	free(query->low);
	free(query->planes);
}

/* Sums. ------------------------------------------------------------------------------ */

static void
plain_code_sums(int32_t *sums, const struct code_query *query, const uint8_t *codes,
    size_t rows, size_t stride)
{
	for (size_t r = 0; r < rows; r++, codes += stride) {
		int32_t sum = 0;
		for (size_t c = 0; c < stride; c++)
			sum += query->words[c] * codes[c];
		sums[r] = sum;
	}
}

/* Inlined into functions for processors with and without the instruction. */
static inline __attribute__((always_inline)) void
count_bits(int32_t *sums, const struct code_query *query, const uint64_t *bits,
    size_t rows, size_t words)
{
	const uint64_t *one = query->planes, *two = one + words, *four = two + words,
		       *sign = four + words;

	for (size_t r = 0; r < rows; r++, bits += words) {
		int32_t sum = 0;
		for (size_t w = 0; w < words; w++)
			sum += __builtin_popcountll(bits[w] & one[w]) +
			       2 * __builtin_popcountll(bits[w] & two[w]) +
			       4 * __builtin_popcountll(bits[w] & four[w]) -
			       8 * __builtin_popcountll(bits[w] & sign[w]);
		sums[r] = sum;
	}
}

static void
plain_bit_sums(int32_t *sums, const struct code_query *query, const uint64_t *bits,
    size_t rows, size_t words)
{
	count_bits(sums, query, bits, rows, words);
}

#ifdef __x86_64__
#include <immintrin.h>

#define FOR(isa) __attribute__((target(isa)))

FOR("popcnt")
static void
popcnt_bit_sums(int32_t *sums, const struct code_query *query, const uint64_t *bits,
    size_t rows, size_t words)
{
	count_bits(sums, query, bits, rows, words);
}

FOR("avx2")
static void
avx2_code_sums(int32_t *sums, const struct code_query *query, const uint8_t *codes,
    size_t rows, size_t stride)
{
	for (size_t r = 0; r < rows; r++, codes += stride) {
		__m256i sum = _mm256_setzero_si256();
		for (size_t c = 0; c < stride; c += 16) {
			__m256i u = _mm256_cvtepu8_epi16(
			    _mm_loadu_si128((const __m128i *)(const void *)(codes + c)));
			__m256i w = _mm256_loadu_si256(
			    (const __m256i *)(const void *)(query->words + c));
			sum = _mm256_add_epi32(sum, _mm256_madd_epi16(u, w));
		}
		__m128i half = _mm_add_epi32(
		    _mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
		half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
		half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
		sums[r] = _mm_cvtsi128_si32(half);
	}
}

FOR("avx512f,avx512bw,avx512vl,avx512vnni")
static void
avx512_code_sums(int32_t *sums, const struct code_query *query, const uint8_t *codes,
    size_t rows, size_t stride)
{
	for (size_t r = 0; r < rows; r++, codes += stride) {
		__m512i high = _mm512_setzero_si512(), low = high;
		for (size_t c = 0; c < stride; c += 64) {
			__m512i u = _mm512_loadu_si512(codes + c);
			high = _mm512_dpbusd_epi32(
			    high, u, _mm512_loadu_si512(query->high + c));
			low = _mm512_dpbusd_epi32(
			    low, u, _mm512_loadu_si512(query->low + c));
		}
		sums[r] = _mm512_reduce_add_epi32(
		    _mm512_add_epi32(_mm512_slli_epi32(high, 7), low));
	}
}

static bool
wanted(const char *isa)
{
	const char *name = getenv("MOTES_ISA");

	return !name || !*name || !strcmp(name, isa) ||
	       (!strcmp(isa, "avx512") && !strcmp(name, "amx")) ||
	       (!strcmp(isa, "avx2") && !strcmp(name, "avxvnni"));
}

code_sums *
code_sums_best(void)
{
	if (wanted("avx512") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
		return avx512_code_sums;
	if (wanted("avx2") && __builtin_cpu_supports("avx2"))
		return avx2_code_sums;
	return plain_code_sums;
}

bit_sums *
bit_sums_best(void)
{
	const char *name = getenv("MOTES_ISA");

	return __builtin_cpu_supports("popcnt") && !(name && !strcmp(name, "plain"))
		   ? popcnt_bit_sums
		   : plain_bit_sums;
}
#else
code_sums *
code_sums_best(void)
{
	return plain_code_sums;
}

bit_sums *
bit_sums_best(void)
{
	return plain_bit_sums;
}
#endif
