/* The microkernels of x86-64: AMX, AVX-512, AVX-VNNI and AVX2. */
#include "nn/cpu/microkernel.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nn/cpu/cpu.h"

#define NN_FOR(isa) __attribute__((target(isa)))
#define NN_TILE_FOR(isa) static inline __attribute__((always_inline, target(isa)))

/* Four bytes from x on. */
static inline int32_t
word_at(const char *x)
{
	int32_t bytes;

	memcpy(&bytes, x, sizeof bytes);
	return bytes;
}

/* AVX-512: 6 rows by 64 columns in 24 registers.  The products are in assembler, because gcc 12 keeps the sums of its
 * intrinsics in memory. */
#define AVX512 "avx512f,avx512bw,avx512vl"

NN_TILE_FOR(AVX512)
void
avx512_tile(union packed_sum *sums, const char *x, const char *w, size_t depth,
    size_t rows, size_t panels, enum dtype dtype)
{
	__m512i sum[6][4];

#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (size_t p = 0; p < panels; p++)
			sum[r][p] = _mm512_setzero_si512();
	for (size_t k = 0; k < depth; k += 4) {
		__m512i b[4];
#pragma GCC unroll 4
		for (size_t p = 0; p < panels; p++)
			b[p] = _mm512_loadu_si512(w + (p * depth + k) * PACKED_PANEL);
#pragma GCC unroll 6
		for (size_t r = 0; r < rows; r++) {
			__m512i a = _mm512_set1_epi32(word_at(x + r * depth + k));
#pragma GCC unroll 4
			for (size_t p = 0; p < panels; p++)
				if (dtype == DTYPE_I8)
					__asm__("vpdpbusd %2, %1, %0"
						: "+v"(sum[r][p])
						: "v"(a), "v"(b[p]));
				else
					__asm__("vdpbf16ps %2, %1, %0"
						: "+v"(sum[r][p])
						: "v"(a), "v"(b[p]));
		}
	}
#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (size_t p = 0; p < panels; p++)
			_mm512_storeu_si512(
			    sums + r * PACKED_WIDTH + p * PACKED_PANEL, sum[r][p]);
}

NN_TILE_FOR(AVX512)
void
avx512_rows(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth, enum dtype dtype)
{
	for (; rows >= 6; rows -= 6, sums += 6 * PACKED_WIDTH, x += 6 * depth)
		avx512_tile(sums, x, w, depth, 6, panels, dtype);
	if (rows >= 4) {
		avx512_tile(sums, x, w, depth, 4, panels, dtype);
		rows -= 4, sums += 4 * PACKED_WIDTH, x += 4 * depth;
	}
	if (rows >= 2) {
		avx512_tile(sums, x, w, depth, 2, panels, dtype);
		rows -= 2, sums += 2 * PACKED_WIDTH, x += 2 * depth;
	}
	if (rows)
		avx512_tile(sums, x, w, depth, 1, panels, dtype);
}

NN_TILE_FOR(AVX512)
void
avx512_panels(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth, enum dtype dtype)
{
	switch (panels) {
	case 1: avx512_rows(sums, x, w, 1, rows, depth, dtype); break;
	case 2: avx512_rows(sums, x, w, 2, rows, depth, dtype); break;
	case 3: avx512_rows(sums, x, w, 3, rows, depth, dtype); break;
	case 4: avx512_rows(sums, x, w, 4, rows, depth, dtype); break;
	}
}

NN_FOR(AVX512)
static void
avx512_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	avx512_panels(sums, x, w, panels, rows, depth, DTYPE_I8);
}

NN_FOR(AVX512)
static void
avx512_bf16_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	avx512_panels(sums, x, w, panels, rows, depth, DTYPE_BF16);
}

/* AMX: tiles of 16 rows by 16 columns, two by two. */
#define AMX "amx-tile,amx-int8,amx-bf16"

/* The shapes of the eight tiles; static, because gcc does not know that the instruction reads them. */
static const struct {
	uint8_t palette, start, none[14];
	uint16_t bytes[16];
	uint8_t rows[16];
} tiles = { 1, 0, { 0 },
	{ PACKED_DEPTH, PACKED_DEPTH, PACKED_DEPTH, PACKED_DEPTH, PACKED_DEPTH,
	    PACKED_DEPTH, PACKED_DEPTH, PACKED_DEPTH },
	{ PACKED_TILE, PACKED_TILE, PACKED_TILE, PACKED_TILE, PACKED_TILE, PACKED_TILE,
	    PACKED_TILE, PACKED_TILE } };

NN_FOR(AMX)
static void
amx_begin(void)
{
	_tile_loadconfig(&tiles);
}

NN_FOR(AMX)
static void
amx_end(void)
{
	_tile_release();
}

/* the numbers of tiles are immediate operands */
#define DOT(to, a, b)                                                                    \
	do                                                                               \
		if (dtype == DTYPE_I8)                                                   \
			_tile_dpbusd(to, a, b);                                          \
		else                                                                     \
			_tile_dpbf16ps(to, a, b);                                        \
	while (0)

/* One tile of sums, or two beside each other (wide) or one above the other (high), or four. */
NN_TILE_FOR(AMX)
void
amx_tile(union packed_sum *sums, const char *x, const char *w, size_t depth, bool wide,
    bool high, enum dtype dtype)
{
	const size_t line = PACKED_WIDTH * sizeof *sums;

	_tile_zero(0);
	if (wide)
		_tile_zero(1);
	if (high)
		_tile_zero(2);
	if (wide && high)
		_tile_zero(3);
	for (size_t k = 0; k < depth; k += PACKED_DEPTH) {
		_tile_loadd(4, x + k, depth);
		_tile_loadd(6, w + k * PACKED_PANEL, PACKED_DEPTH);
		DOT(0, 4, 6);
		if (wide) {
			_tile_loadd(7, w + (depth + k) * PACKED_PANEL, PACKED_DEPTH);
			DOT(1, 4, 7);
		}
		if (high) {
			_tile_loadd(5, x + PACKED_TILE * depth + k, depth);
			DOT(2, 5, 6);
		}
		if (wide && high)
			DOT(3, 5, 7);
	}
	_tile_stored(0, sums, line);
	if (wide)
		_tile_stored(1, sums + PACKED_TILE, line);
	if (high)
		_tile_stored(2, sums + PACKED_TILE * PACKED_WIDTH, line);
	if (wide && high)
		_tile_stored(3, sums + PACKED_TILE * PACKED_WIDTH + PACKED_TILE, line);
}

NN_TILE_FOR(AMX)
void
amx_panels(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth, enum dtype dtype)
{
	for (size_t p = 0; p < panels; p += 2) {
		bool wide = p + 1 < panels, high = rows > PACKED_TILE;
		union packed_sum *to = sums + p * PACKED_PANEL;
		const char *from = w + p * depth * PACKED_PANEL;
		if (wide && high)
			amx_tile(to, x, from, depth, true, true, dtype);
		else if (wide)
			amx_tile(to, x, from, depth, true, false, dtype);
		else if (high)
			amx_tile(to, x, from, depth, false, true, dtype);
		else
			amx_tile(to, x, from, depth, false, false, dtype);
	}
}

NN_FOR(AMX)
static void
amx_sums(union packed_sum *sums, const char *x, const char *w, size_t panels, size_t rows,
    size_t depth)
{
	if (rows <= 4) /* a tile takes the same time for any number of rows */
		avx512_sums(sums, x, w, panels, rows, depth);
	else
		amx_panels(sums, x, w, panels, rows, depth, DTYPE_I8);
}

NN_FOR(AMX)
static void
amx_bf16_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	/* also for few rows: AVX-512 rounds sums differently */
	amx_panels(sums, x, w, panels, rows, depth, DTYPE_BF16);
}

/* AVX2: two registers of eight columns a panel. */

NN_TILE_FOR("avx2")
void
avx2_put(union packed_sum *sums, __m256i (*sum)[2], size_t rows)
{
#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
		for (size_t h = 0; h < 2; h++)
			_mm256_storeu_si256(
			    (__m256i *)(sums + r * PACKED_WIDTH + 8 * h), sum[r][h]);
}

/* with VNNI: 6 rows by 16 columns in 12 registers */
NN_TILE_FOR("avx2")
void
avxvnni_tile(
    union packed_sum *sums, const char *x, const char *w, size_t depth, size_t rows)
{
	__m256i sum[6][2];

#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = _mm256_setzero_si256();
	for (size_t k = 0; k < depth; k += 4, w += 4 * PACKED_PANEL) {
		__m256i b0 = _mm256_loadu_si256((const __m256i *)w);
		__m256i b1 = _mm256_loadu_si256((const __m256i *)w + 1);
#pragma GCC unroll 6
		for (size_t r = 0; r < rows; r++) {
			__m256i a = _mm256_set1_epi32(word_at(x + r * depth + k));
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

/* without VNNI: vpmaddwd multiplies and adds pairs of 16-bit words, because vpmaddubsw saturates.  A register has four
 * columns, two sums each, that are added at the end: 6 rows by 8 columns in 12 registers.  avx2_widen has made words of x, four of
 * each row and then the next four.  In assembler for the same reason as AVX-512. */
NN_TILE_FOR("avx2")
void
avx2_tile(
    union packed_sum *sums, const uint16_t *x, const char *w, size_t depth, size_t rows)
{
	__m256i sum[PACKED_WIDE][2];

#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = _mm256_setzero_si256();
	for (size_t k = 0; k < depth; k += 4, w += 4 * PACKED_PANEL, x += 4 * rows) {
		const __m128i *bytes = (const __m128i *)(const void *)w;
		__m256i b0 = _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes));
		__m256i b1 = _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes + 1));
#pragma GCC unroll 6
		for (size_t r = 0; r < rows; r++) {
			__m256i a, product;
			__asm__(
			    "vpbroadcastq %4, %0\n\tvpmaddwd %0, %5, %1\n\tvpaddd %1, %2, %2\n\tvpmaddwd %0, %6, %1\n\tvpaddd %1, %3, %3"
			    : "=&x"(a), "=&x"(product), "+x"(sum[r][0]), "+x"(sum[r][1])
			    : "m"(*(const uint16_t(*)[4])(x + 4 * r)), "x"(b0), "x"(b1));
		}
	}
#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
		_mm256_storeu_si256((__m256i *)(void *)(sums + r * PACKED_WIDTH),
		    _mm256_permute4x64_epi64(
			_mm256_hadd_epi32(sum[r][0], sum[r][1]), 0xd8));
}

NN_FOR("avx2")
static void
avxvnni_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	for (size_t p = 0; p < panels; p++, w += depth * PACKED_PANEL) {
		union packed_sum *to = sums + p * PACKED_PANEL;
		size_t r = 0;
		for (; r + 6 <= rows; r += 6)
			avxvnni_tile(to + r * PACKED_WIDTH, x + r * depth, w, depth, 6);
		for (; r < rows; r++)
			avxvnni_tile(to + r * PACKED_WIDTH, x + r * depth, w, depth, 1);
	}
}

/* The rows that a tile of avx2_sums has, of so many that are left. */
NN_INLINE size_t
avx2_rows(size_t left)
{
	return left >= PACKED_WIDE ? PACKED_WIDE : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

NN_FOR("avx2")
static void
avx2_widen(uint16_t *to, const char *x, size_t rows, size_t depth)
{
	size_t some;

	for (; rows; rows -= some, to += some * depth) {
		some = avx2_rows(rows);
		for (size_t r = 0; r < some; r++, x += depth)
			for (size_t k = 0; k < depth; k += 8) {
				__m128i words = _mm_cvtepu8_epi16(_mm_loadl_epi64(
				    (const __m128i *)(const void *)(x + k)));
				uint16_t *at = to + k * some + 4 * r;
				_mm_storel_epi64((__m128i *)(void *)at, words);
				_mm_storel_epi64((__m128i *)(void *)(at + 4 * some),
				    _mm_unpackhi_epi64(words, words));
			}
	}
}

NN_FOR("avx2")
static void
avx2_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	const uint16_t *words = (const void *)x;
	size_t some;

	for (; rows; rows -= some, sums += some * PACKED_WIDTH, words += some * depth) {
		some = avx2_rows(rows);
		for (size_t h = 0; h < 2 * panels; h++) {
			union packed_sum *to = sums + h * PACKED_PANEL / 2;
			const char *half =
			    w + h / 2 * depth * PACKED_PANEL + h % 2 * 2 * PACKED_PANEL;
			switch (some) {
			case 1: avx2_tile(to, words, half, depth, 1); break;
			case 2: avx2_tile(to, words, half, depth, 2); break;
			case 4: avx2_tile(to, words, half, depth, 4); break;
			default: avx2_tile(to, words, half, depth, PACKED_WIDE);
			}
		}
	}
}

/* The processor's features. -------------------------------------------------------- */

/* Registers a and d of cpuid's leaf 7, which __builtin_cpu_supports of clang 14 does not know. */
struct features {
	unsigned a, d;
};

static struct features
features(unsigned subleaf)
{
	struct features has = { 0 };
	unsigned b, c;

	__get_cpuid_count(7, subleaf, &has.a, &b, &c, &has.d);
	return has;
}

static bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool
has_avxvnni(void)
{
	return has_avx2() && features(1).a >> 4 & 1;
}

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}

static bool
has_avx512_bf16(void)
{
	return has_avx512() && features(1).a >> 5 & 1;
}

/* AMX with int8 and bf16.  Linux saves the tiles of a process only if it has asked for permission. */
static bool
has_amx(void)
{
	enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
	unsigned d = features(0).d;

	return has_avx512() && (d >> 22 & 1) && (d >> 24 & 1) && (d >> 25 & 1) &&
	       syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* Intel's processors make half as many products of bf16 as of f32, AMD's twice as many. */
static bool
is_amd(void)
{
	return __builtin_cpu_is("amd");
}

const struct microkernel *
microkernels_native(void)
{
	static const struct microkernel all[] = {
		{ "amx", DTYPE_I8, PACKED_HEIGHT, 128, PACKED_DEPTH, amx_sums,
		    .begin = amx_begin, .end = amx_end, .has = has_amx },
		{ "amx", DTYPE_BF16, PACKED_HEIGHT, 128, PACKED_DEPTH, amx_bf16_sums,
		    .begin = amx_begin, .end = amx_end, .has = has_amx },
		{ "avx512", DTYPE_I8, 24, 192, 4, avx512_sums, .has = has_avx512 },
		{ "avx512", DTYPE_BF16, 24, 192, 4, avx512_bf16_sums,
		    .has = has_avx512_bf16, .quicker = is_amd },
		{ "avxvnni", DTYPE_I8, 24, 512, 4, avxvnni_sums, .has = has_avxvnni },
		{ "avx2", DTYPE_I8, 24, 512, 8, avx2_sums, .widen = avx2_widen,
		    .has = has_avx2 },
		{ .name = NULL },
	};

	return all;
}
#endif
