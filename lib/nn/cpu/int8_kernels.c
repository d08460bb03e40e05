#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/err.h"
#include "nn/cpu/cpu.h"
#include "nn/cpu/int8.h"

static void
plain_sums(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t panels,
    size_t rows, size_t K)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t p = 0; p < panels; p++) {
			int32_t of[BYTES_PANEL] = { 0 };
			const int8_t *at = w + p * K * BYTES_PANEL;
			for (size_t k = 0; k < K; k += 4)
				for (size_t n = 0; n < BYTES_PANEL; n++)
					for (size_t i = 0; i < 4; i++)
						of[n] +=
						    x[r * stride + k + i] *
						    at[(k * BYTES_PANEL) + 4 * n + i];
			memcpy(sums + r * BYTES_WIDTH + p * BYTES_PANEL, of, sizeof of);
		}
}

static const struct int8_kernel plain = { "plain", 1, plain_sums, NULL, NULL };

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NN_FOR(isa) __attribute__((target(isa)))
#define NN_TILE_FOR(isa) static inline __attribute__((always_inline, target(isa)))

/* Four bytes of x, again and again. */
static inline int32_t
four(const uint8_t *x)
{
	int32_t bytes;

	memcpy(&bytes, x, sizeof bytes);
	return bytes;
}

/* AVX-512 with VNNI: 6 rows by 64 columns in 24 registers.  gcc 12 would spill intrinsics' sums, not these. */
#define VNNI512 "avx512f,avx512bw,avx512vl,avx512vnni"

NN_TILE_FOR(VNNI512)
void
avx512_tile(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K,
    size_t rows, size_t panels)
{
	__m512i sum[6][4];

#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (size_t p = 0; p < panels; p++)
			sum[r][p] = _mm512_setzero_si512();
	for (size_t k = 0; k < K; k += 4) {
		__m512i b[4];
#pragma GCC unroll 4
		for (size_t p = 0; p < panels; p++)
			b[p] = _mm512_loadu_si512(w + (p * K + k) * BYTES_PANEL);
#pragma GCC unroll 6
		for (size_t r = 0; r < rows; r++) {
			__m512i a = _mm512_set1_epi32(four(x + r * stride + k));
#pragma GCC unroll 4
			for (size_t p = 0; p < panels; p++)
				__asm__("vpdpbusd %2, %1, %0"
					: "+v"(sum[r][p])
					: "v"(a), "v"(b[p]));
		}
	}
#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (size_t p = 0; p < panels; p++)
			_mm512_storeu_si512(
			    sums + r * BYTES_WIDTH + p * BYTES_PANEL, sum[r][p]);
}

NN_TILE_FOR(VNNI512)
void
avx512_rows(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w,
    size_t panels, size_t rows, size_t K)
{
	for (; rows >= 6; rows -= 6, sums += 6 * BYTES_WIDTH, x += 6 * stride)
		avx512_tile(sums, x, stride, w, K, 6, panels);
	if (rows >= 4) {
		avx512_tile(sums, x, stride, w, K, 4, panels);
		rows -= 4, sums += 4 * BYTES_WIDTH, x += 4 * stride;
	}
	if (rows >= 2) {
		avx512_tile(sums, x, stride, w, K, 2, panels);
		rows -= 2, sums += 2 * BYTES_WIDTH, x += 2 * stride;
	}
	if (rows)
		avx512_tile(sums, x, stride, w, K, 1, panels);
}

NN_FOR(VNNI512)
static void
avx512_sums(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w,
    size_t panels, size_t rows, size_t K)
{
	switch (panels) {
	case 1: avx512_rows(sums, x, stride, w, 1, rows, K); break;
	case 2: avx512_rows(sums, x, stride, w, 2, rows, K); break;
	case 3: avx512_rows(sums, x, stride, w, 3, rows, K); break;
	case 4: avx512_rows(sums, x, stride, w, 4, rows, K); break;
	}
}

static const struct int8_kernel avx512 = { "avx512", 24, avx512_sums, NULL, NULL };

/* AMX_ISA: squares of 16 rows by 16 columns, two by two. */
#define AMX_ISA "amx-tile,amx-int8"
enum { SQUARE = 16 };

/* Eight of them; of static storage, because gcc does not know that the instruction reads it. */
static const struct {
	uint8_t palette, start, none[14];
	uint16_t bytes[16];
	uint8_t rows[16];
} squares = { 1, 0, { 0 },
	{ BYTES_DEPTH, BYTES_DEPTH, BYTES_DEPTH, BYTES_DEPTH, BYTES_DEPTH, BYTES_DEPTH,
	    BYTES_DEPTH, BYTES_DEPTH },
	{ SQUARE, SQUARE, SQUARE, SQUARE, SQUARE, SQUARE, SQUARE, SQUARE } };

NN_FOR(AMX_ISA) static void amx_begin(void)
{
	_tile_loadconfig(&squares);
}

NN_FOR(AMX_ISA) static void amx_end(void)
{
	_tile_release();
}

#define LINE (BYTES_WIDTH * sizeof(int32_t))

NN_FOR(AMX_ISA)
static void
amx_one(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K)
{
	_tile_zero(0);
	for (size_t k = 0; k < K; k += BYTES_DEPTH) {
		_tile_loadd(4, x + k, stride);
		_tile_loadd(6, w + k * BYTES_PANEL, 4 * BYTES_PANEL);
		_tile_dpbusd(0, 4, 6);
	}
	_tile_stored(0, sums, LINE);
}

NN_FOR(AMX_ISA)
static void
amx_two_high(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K)
{
	_tile_zero(0);
	_tile_zero(2);
	for (size_t k = 0; k < K; k += BYTES_DEPTH) {
		_tile_loadd(6, w + k * BYTES_PANEL, 4 * BYTES_PANEL);
		_tile_loadd(4, x + k, stride);
		_tile_dpbusd(0, 4, 6);
		_tile_loadd(5, x + SQUARE * stride + k, stride);
		_tile_dpbusd(2, 5, 6);
	}
	_tile_stored(0, sums, LINE);
	_tile_stored(2, sums + SQUARE * BYTES_WIDTH, LINE);
}

NN_FOR(AMX_ISA)
static void
amx_two_wide(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K)
{
	_tile_zero(0);
	_tile_zero(1);
	for (size_t k = 0; k < K; k += BYTES_DEPTH) {
		_tile_loadd(4, x + k, stride);
		_tile_loadd(6, w + k * BYTES_PANEL, 4 * BYTES_PANEL);
		_tile_dpbusd(0, 4, 6);
		_tile_loadd(7, w + (K + k) * BYTES_PANEL, 4 * BYTES_PANEL);
		_tile_dpbusd(1, 4, 7);
	}
	_tile_stored(0, sums, LINE);
	_tile_stored(1, sums + SQUARE, LINE);
}

NN_FOR(AMX_ISA)
static void
amx_four(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K)
{
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (size_t k = 0; k < K; k += BYTES_DEPTH) {
		_tile_loadd(4, x + k, stride);
		_tile_loadd(6, w + k * BYTES_PANEL, 4 * BYTES_PANEL);
		_tile_dpbusd(0, 4, 6);
		_tile_loadd(7, w + (K + k) * BYTES_PANEL, 4 * BYTES_PANEL);
		_tile_dpbusd(1, 4, 7);
		_tile_loadd(5, x + SQUARE * stride + k, stride);
		_tile_dpbusd(2, 5, 6);
		_tile_dpbusd(3, 5, 7);
	}
	_tile_stored(0, sums, LINE);
	_tile_stored(1, sums + SQUARE, LINE);
	_tile_stored(2, sums + SQUARE * BYTES_WIDTH, LINE);
	_tile_stored(3, sums + SQUARE * BYTES_WIDTH + SQUARE, LINE);
}

static void
amx_sums(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t panels,
    size_t rows, size_t K)
{
	if (rows <= 4) { /* a square takes its time however few of its rows count */
		avx512_sums(sums, x, stride, w, panels, rows, K);
		return;
	}
	for (size_t p = 0; p < panels; p += 2) {
		bool wide = p + 1 < panels, high = rows > SQUARE;
		(wide	   ? high ? amx_four : amx_two_wide
		    : high ? amx_two_high
			   : amx_one)(
		    sums + p * BYTES_PANEL, x, stride, w + p * K * BYTES_PANEL, K);
	}
}

static const struct int8_kernel amx = { "amx", 32, amx_sums, amx_begin, amx_end };

/* AVX2: two registers of eight columns a panel. */

NN_TILE_FOR("avx2") void avx2_put(int32_t *sums, __m256i (*sum)[2], size_t rows)
{
#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
		for (size_t h = 0; h < 2; h++)
			_mm256_storeu_si256(
			    (__m256i *)(sums + r * BYTES_WIDTH + 8 * h), sum[r][h]);
}

/* with VNNI: 6 rows by 16 columns in 12 registers */
NN_TILE_FOR("avx2")
void
avxvnni_tile(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K,
    size_t rows)
{
	__m256i sum[6][2];

#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = _mm256_setzero_si256();
	for (size_t k = 0; k < K; k += 4, w += 4 * BYTES_PANEL) {
		__m256i b0 = _mm256_loadu_si256((const __m256i *)w);
		__m256i b1 = _mm256_loadu_si256((const __m256i *)w + 1);
#pragma GCC unroll 6
		for (size_t r = 0; r < rows; r++) {
			__m256i a = _mm256_set1_epi32(four(x + r * stride + k));
			__asm__("%{vex%} vpdpbusd %2, %1, %0"
				: "+x"(sum[r][0])
				: "x"(a), "x"(b0));
			__asm__("%{vex%} vpdpbusd %2, %1, %0"
				: "+x"(sum[r][1])
				: "x"(a), "x"(b1));
		}
	}
	avx2_put(sums, sum, rows);
}

/* without: words, pairs of which vpmaddwd multiplies and adds; vpmaddubsw, twice as quick, would
 * saturate.  A register has four columns, two sums each, that are added at the end. */
NN_TILE_FOR("avx2")
void
avx2_tile(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t K,
    size_t rows)
{
	__m256i sum[2][4], both[2][2];

#pragma GCC unroll 2
	for (size_t r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = sum[r][2] = sum[r][3] = _mm256_setzero_si256();
	for (size_t k = 0; k < K; k += 4, w += 4 * BYTES_PANEL) {
#pragma GCC unroll 4
		for (size_t q = 0; q < 4; q++) {
			__m256i b =
			    _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w + q));
#pragma GCC unroll 2
			for (size_t r = 0; r < rows; r++) {
				__m256i a = _mm256_cvtepu8_epi16(
				    _mm_set1_epi32(four(x + r * stride + k)));
				sum[r][q] =
				    _mm256_add_epi32(sum[r][q], _mm256_madd_epi16(a, b));
			}
		}
	}
#pragma GCC unroll 2
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
		for (size_t h = 0; h < 2; h++)
			both[r][h] = _mm256_permute4x64_epi64(
			    _mm256_hadd_epi32(sum[r][2 * h], sum[r][2 * h + 1]), 0xd8);
	avx2_put(sums, both, rows);
}

NN_FOR("avx2")
static void
avxvnni_sums(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w,
    size_t panels, size_t rows, size_t K)
{
	for (size_t p = 0; p < panels; p++, w += K * BYTES_PANEL, sums += BYTES_PANEL) {
		size_t r = 0;
		for (; r + 6 <= rows; r += 6)
			avxvnni_tile(
			    sums + r * BYTES_WIDTH, x + r * stride, stride, w, K, 6);
		for (; r < rows; r++)
			avxvnni_tile(
			    sums + r * BYTES_WIDTH, x + r * stride, stride, w, K, 1);
	}
}

NN_FOR("avx2")
static void
avx2_sums(int32_t *sums, const uint8_t *x, size_t stride, const int8_t *w, size_t panels,
    size_t rows, size_t K)
{
	for (size_t p = 0; p < panels; p++, w += K * BYTES_PANEL, sums += BYTES_PANEL) {
		size_t r = 0;
		for (; r + 2 <= rows; r += 2)
			avx2_tile(
			    sums + r * BYTES_WIDTH, x + r * stride, stride, w, K, 2);
		for (; r < rows; r++)
			avx2_tile(
			    sums + r * BYTES_WIDTH, x + r * stride, stride, w, K, 1);
	}
}

static const struct int8_kernel avxvnni = { "avxvnni", 24, avxvnni_sums, NULL, NULL };
static const struct int8_kernel avx2 = { "avx2", 24, avx2_sums, NULL, NULL };

/* What the processor has. ----------------------------------------------------------- */

enum { AMX_TILE = 18, ASK_FOR_STATE = 0x1023 }; /* arch_prctl's */

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}

static bool
has_amx(void)
{
	unsigned a, b, c, d;

	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
	/* the tiles and their products of bytes; the system keeps their state for who asks */
	return (d >> 24 & 1) && (d >> 25 & 1) && has_avx512() &&
	       syscall(SYS_arch_prctl, ASK_FOR_STATE, AMX_TILE) == 0;
}

static bool
has_avxvnni(void)
{
	unsigned a, b, c, d;

	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(1));
	return __builtin_cpu_supports("avx2") && (a >> 4 & 1);
}

static bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}
#endif

static bool
has_plain(void)
{
	return true;
}

static const struct int8_kernel *chosen;

static void
choose(void)
{
	static const struct {
		const struct int8_kernel *kernel;
		bool (*has)(void);
	} all[] = {
#ifdef __x86_64__
		{ &amx, has_amx },
		{ &avx512, has_avx512 },
		{ &avxvnni, has_avxvnni },
		{ &avx2, has_avx2 },
#endif
		{ &plain, has_plain },
	};
	const char *wanted = getenv("MOTES_ISA");

	for (size_t i = 0; i < sizeof all / sizeof *all && !chosen; i++)
		if (wanted && *wanted ? !strcmp(wanted, all[i].kernel->name)
				      : all[i].has())
			chosen = all[i].has() ? all[i].kernel : NULL;
	if (!chosen)
		die("MOTES_ISA: '%s' is nothing that this processor has; leave it out",
		    wanted);
}

const struct int8_kernel *
int8_kernel(void)
{
	static once_flag once = ONCE_FLAG_INIT;

	call_once(&once, choose);
	return chosen;
}
