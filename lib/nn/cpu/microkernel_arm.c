/* The microkernels of arm64: matrix products of I8MM and BF16, dot products of DotProd. */
#include "nn/cpu/microkernel.h"

#ifdef __aarch64__
#include <sys/auxv.h>

/* gcc refuses the functions of arm_neon.h in these targets if the rest is compiled for more than armv8.2-a, and clang 14 has them in no
 * target but that of the whole file: vectors are those of the language, and instructions without an operator in assembler. */
#ifdef __clang__
#define DOTPROD "dotprod"
#define MATRIX "i8mm,bf16"
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define DOTPROD "arch=armv8.2-a+dotprod"
#define MATRIX "arch=armv8.2-a+i8mm+bf16"
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define NN_FOR(isa) __attribute__((target(isa)))
#define NN_TILE_FOR(isa) static inline __attribute__((always_inline, target(isa)))

enum { REGISTER = 16 }; /* bytes */

typedef int32_t words __attribute__((vector_size(REGISTER)));
typedef uint8_t bytes __attribute__((vector_size(REGISTER)));
/* unaligned */
typedef int32_t loose_words __attribute__((vector_size(REGISTER), aligned(1), may_alias));
typedef uint8_t loose_bytes __attribute__((vector_size(REGISTER), aligned(1), may_alias));

/* DotProd: 4 rows by 16 columns in 16 registers. ----------------------------------- */

enum { DOT_ROWS = 4, DOT_WORDS = PACKED_PANEL / 4 };

/* sum += w x: four terms of each column and those of a lane of x, whose number is an immediate operand */
#define DOT(sum, w, x, lane)                                                             \
	__asm__("sdot %0.4s, %1.16b, %2.4b[" #lane "]" : "+w"(sum) : "w"(w), "w"(x))

/* The barrier keeps gcc 12 from loading the weights of all lanes first, and the sums out of memory. */
#define DOT_LANE(lane)                                                                   \
	UNROLL for (size_t n = 0; n < DOT_WORDS; n++, w += REGISTER)                     \
	{                                                                                \
		words b = *(const loose_words *)w;                                       \
		UNROLL for (size_t r = 0; r < rows; r++) DOT(sum[r][n], b, a[r], lane);  \
	}                                                                                \
	__asm__ volatile("" ::: "memory")

/* SDOT multiplies signed bytes: x - 128, whose product with w is that of x less `base`. */
NN_TILE_FOR(DOTPROD)
void
dotprod_tile(union packed_sum *sums, const words *base, const char *x, const char *w,
    size_t depth, size_t rows)
{
	words sum[DOT_ROWS][DOT_WORDS];

	UNROLL
	for (size_t r = 0; r < rows; r++) {
		UNROLL
		for (size_t n = 0; n < DOT_WORDS; n++)
			sum[r][n] = base[n];
	}
	for (size_t k = 0; k < depth; k += REGISTER) {
		bytes a[DOT_ROWS];
		UNROLL
		for (size_t r = 0; r < rows; r++)
			a[r] = *(const loose_bytes *)(x + r * depth + k) ^ 0x80;
		DOT_LANE(0);
		DOT_LANE(1);
		DOT_LANE(2);
		DOT_LANE(3);
	}
	UNROLL
	for (size_t r = 0; r < rows; r++) {
		UNROLL
		for (size_t n = 0; n < DOT_WORDS; n++)
			*(loose_words *)(sums + r * PACKED_WIDTH + n * 4) = sum[r][n];
	}
}

/* base[n] = 128 times the sum of the weights of column n of a panel */
NN_FOR(DOTPROD)
static void
dotprod_base(words *base, const char *w, size_t depth)
{
	const bytes least = (bytes){ 0 } + 0x80; /* -128 */
	words sum[DOT_WORDS] = { { 0 } };

	for (size_t k = 0; k < depth; k += 4) {
		UNROLL
		for (size_t n = 0; n < DOT_WORDS; n++, w += REGISTER)
			DOT(sum[n], *(const loose_words *)w, least, 0);
	}
	for (size_t n = 0; n < DOT_WORDS; n++)
		base[n] = -sum[n];
}

NN_FOR(DOTPROD)
static void
dotprod_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	for (size_t p = 0; p < panels; p++, w += depth * PACKED_PANEL) {
		union packed_sum *to = sums + p * PACKED_PANEL;
		words base[DOT_WORDS];
		size_t r = 0;
		dotprod_base(base, w, depth);
		for (; r + DOT_ROWS <= rows; r += DOT_ROWS)
			dotprod_tile(to + r * PACKED_WIDTH, base, x + r * depth, w, depth,
			    DOT_ROWS);
		for (; r + 2 <= rows; r += 2)
			dotprod_tile(
			    to + r * PACKED_WIDTH, base, x + r * depth, w, depth, 2);
		if (r < rows)
			dotprod_tile(
			    to + r * PACKED_WIDTH, base, x + r * depth, w, depth, 1);
	}
}

/* I8MM and BF16: 12 rows by 8 columns in 24 registers. ----------------------------- */

/* An instruction multiplies two rows by two columns, eight bytes of each. */
enum { PAIRS = 6, PAIR_COLUMNS = 8, PAIR_DEPTH = 8 };

/* to = the elements of a and b as the instruction mixes them */
#define MIX(instruction, shape, to, a, b)                                                \
	__asm__(instruction " %0." shape ", %1." shape ", %2." shape                     \
		: "=w"(to)                                                               \
		: "w"(a), "w"(b))

/* Rows to pairs: to[depth / PAIR_DEPTH][count][2][PAIR_DEPTH].  An odd row is its own partner. */
static void
pair_rows(char *to, const char *x, size_t rows, size_t depth, size_t count)
{
	for (size_t p = 0; p < count; p++, to += REGISTER) {
		const char *first = x + 2 * p * depth;
		const char *second = 2 * p + 1 < rows ? first + depth : first;
		for (size_t k = 0; k < depth; k += REGISTER) {
			words a = *(const loose_words *)(first + k);
			words b = *(const loose_words *)(second + k);
			char *at = to + k / PAIR_DEPTH * count * REGISTER;
			MIX("zip1", "2d", *(loose_words *)at, a, b);
			MIX("zip2", "2d", *(loose_words *)(at + count * REGISTER), a, b);
		}
	}
}

/* Half a panel by `count` pairs.  The second row of an odd pair is written, too: `sums` has room for PACKED_HEIGHT rows. */
NN_TILE_FOR(MATRIX)
void
pairs_tile(union packed_sum *sums, const char *x, const char *w, size_t depth,
    size_t count, enum dtype dtype)
{
	words sum[PAIRS][4]; /* of columns 0 and 2, 1 and 3, 4 and 6, 5 and 7 */

	UNROLL
	for (size_t p = 0; p < count; p++)
		sum[p][0] = sum[p][1] = sum[p][2] = sum[p][3] = (words){ 0 };
	for (size_t k = 0; k < depth; k += PAIR_DEPTH) {
		const loose_words *near = (const void *)w;
		const loose_words *far = (const void *)(w + 4 * PACKED_PANEL);
		words b[4];
		UNROLL
		for (size_t n = 0; n < 2; n++) {
			words low = near[n], high = far[n];
			MIX("trn1", "4s", b[2 * n], low, high);
			MIX("trn2", "4s", b[2 * n + 1], low, high);
		}
		UNROLL
		for (size_t p = 0; p < count; p++) {
			words a = *(const loose_words *)(x + p * REGISTER);
			UNROLL
			for (size_t n = 0; n < 4; n++)
				if (dtype == DTYPE_I8)
					__asm__("usmmla %0.4s, %1.16b, %2.16b"
						: "+w"(sum[p][n])
						: "w"(a), "w"(b[n]));
				else
					__asm__("bfmmla %0.4s, %1.8h, %2.8h"
						: "+w"(sum[p][n])
						: "w"(a), "w"(b[n]));
		}
		x += count * REGISTER, w += PAIR_DEPTH * PACKED_PANEL;
	}
	UNROLL
	for (size_t p = 0; p < count; p++, sums += 2 * PACKED_WIDTH) {
		UNROLL
		for (size_t n = 0; n < 2; n++) {
			words even = sum[p][2 * n], odd = sum[p][2 * n + 1];
			loose_words *first = (void *)(sums + 4 * n);
			loose_words *second = (void *)(sums + PACKED_WIDTH + 4 * n);
			MIX("zip1", "4s", *first, even, odd);
			MIX("zip2", "4s", *second, even, odd);
		}
	}
}

NN_TILE_FOR(MATRIX)
void
pairs_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth, enum dtype dtype)
{
	_Alignas(64) char pairs[PAIRS * 2 * NN_MAX_PACKED * sizeof(uint16_t)];
	size_t count, some;

	for (; rows; rows -= some, sums += some * PACKED_WIDTH, x += some * depth) {
		count = (rows + 1) / 2;
		count = count >= PAIRS ? PAIRS : count >= 4 ? 4 : count >= 2 ? 2 : 1;
		some = 2 * count < rows ? 2 * count : rows;
		pair_rows(pairs, x, some, depth, count);
		for (size_t h = 0; h < 2 * panels; h++) {
			union packed_sum *to = sums + h * PAIR_COLUMNS;
			const char *half =
			    w + h / 2 * depth * PACKED_PANEL + h % 2 * 4 * PAIR_COLUMNS;
			switch (count) {
			case 1: pairs_tile(to, pairs, half, depth, 1, dtype); break;
			case 2: pairs_tile(to, pairs, half, depth, 2, dtype); break;
			case 4: pairs_tile(to, pairs, half, depth, 4, dtype); break;
			default: pairs_tile(to, pairs, half, depth, PAIRS, dtype);
			}
		}
	}
}

NN_FOR(MATRIX)
static void
i8mm_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	pairs_sums(sums, x, w, panels, rows, depth, DTYPE_I8);
}

NN_FOR(MATRIX)
static void
bf16_sums(union packed_sum *sums, const char *x, const char *w, size_t panels,
    size_t rows, size_t depth)
{
	pairs_sums(sums, x, w, panels, rows, depth, DTYPE_BF16);
}

/* The processor's features. -------------------------------------------------------- */

static bool
has_dotprod(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}

static bool
has_i8mm(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_I8MM;
}

static bool
has_bf16(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_BF16;
}

const struct microkernel *
microkernels_native(void)
{
	static const struct microkernel all[] = {
		{ "bf16", DTYPE_BF16, 24, 512, 16, bf16_sums, .has = has_bf16 },
		{ "i8mm", DTYPE_I8, 24, 512, 16, i8mm_sums, .has = has_i8mm },
		{ "dotprod", DTYPE_I8, 24, 512, 16, dotprod_sums, .has = has_dotprod },
		{ .name = NULL },
	};

	return all;
}
#endif
