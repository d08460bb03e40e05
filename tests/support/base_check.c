/*
 * base_check - the lowest floors against their definitions: half and bfloat16 exhaustively,
 * numbers as text, the random numbers' ranges and permutations, sizes that overflow.
 *
 * Prints nothing and exits 0 when all holds; else the first fault, exit 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "stream/tensor.h"

static void
expect(int holds, const char *what)
{
	if (!holds)
		die("does not hold: %s", what);
}

static void
check_numbers(void)
{
	static const char *const none[] = { "", "-", ".", "e5", "1e", "0x10", "1e999",
		"nan", "inf", " 1", "1 ", "1,5", "--1", "1_0", NULL };
	static const char *const written[] = { "0", "-0", "0.1", "-12.5", "100", "123456",
		"1e+25", "5e-324", "0.30000000000000004", "1.7976931348623157e+308",
		"1e-07", NULL };
	char room[NUMBER_ROOM];
	double value;
	int64_t whole;

	for (int i = 0; none[i]; i++)
		expect(!number_read(none[i], strlen(none[i]), &value), none[i]);
	expect(
	    number_read("+.5e1,7", 5, &value) && value == 5, "the length ends a number");
	expect(number_read_whole("-007", 4, &whole) && whole == -7, "-007 is -7");
	expect(!number_read_whole("9223372036854775808", 19, &whole), "beyond int64_t");
	expect(!number_read_whole("1.0", 3, &whole), "1.0 is not written as whole");
	for (int i = 0; written[i]; i++) {
		expect(number_read(written[i], strlen(written[i]), &value), written[i]);
		expect(!strcmp(number_write(room, value, false), written[i]), written[i]);
	}
	expect(
	    !strcmp(number_write(room, 0.1f, true), "0.1"), "a float in its own digits");
	expect(!strcmp(number_write(room, 16777216, true), "16777216"), "no exponent");
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rng rng = rng_seed(seed, 0);
		double drawn = rng_normal(&rng) * exp(40 * rng_normal(&rng));
		number_write(room, drawn, false);
		expect(number_read(room, strlen(room), &value) && value == drawn,
		    "what is written reads back");
		number_write(room, (float)drawn, true);
		expect(strtof(room, NULL) == (float)drawn, "a float reads back");
	}
}

/* Every half and every bfloat16 reads back as itself; values between two round to nearest. */
static void
check_halves(void)
{
	for (int i = 0; i < 65536; i++) {
		float half = f16_widen((uint16_t)i), brain = bf16_widen((uint16_t)i);
		expect(isnan(half) ? isnan(f16_widen(f16_narrow(half)))
				   : f16_narrow(half) == i,
		    "every half reads back");
		expect(isnan(brain) ? isnan(bf16_widen(bf16_narrow(brain)))
				    : bf16_narrow(brain) == i,
		    "every bfloat16 reads back");
	}
	for (int i = 0; i < 0x7c00 - 1; i++) {
		float low = f16_widen((uint16_t)i), high = f16_widen((uint16_t)(i + 1));
		float middle = (low + high) / 2;
		expect(f16_narrow(middle) == i + (i & 1),
		    "a tie of halves goes to the even one");
		expect(f16_narrow(nextafterf(middle, low)) == i,
		    "below the middle rounds down");
		expect(f16_narrow(nextafterf(middle, high)) == i + 1,
		    "above the middle rounds up");
	}
	expect(f16_narrow(65519.9f) == 0x7bff && f16_narrow(65520.0f) == 0x7c00,
	    "halves overflow to infinity at 65520");
}

static void
check_conversions(void)
{
	float from[] = { 0, -0.0f, 1, -2.5f, 1e-3f, 65504 }, back[6];
	char stored[6 * 8 + 1];
	enum dtype dtypes[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64 };

	for (int d = 0; d < 4; d++) {
		/* an odd address: no alignment may be assumed */
		tensor_from_f32(stored + 1, dtypes[d], from, 6);
		tensor_to_f32(back, stored + 1, dtypes[d], 6);
		for (int i = 0; i < 6; i++)
			expect(fabsf(back[i] - from[i]) <= fabsf(from[i]) / 256,
			    "values convert and return");
	}
	for (int d = 0; d < DTYPE_COUNT; d++) {
		enum dtype found;
		expect(dtype_parse(dtype_name((enum dtype)d), &found) &&
			   found == (enum dtype)d,
		    "names of dtypes are unique");
	}
}

static void
check_permutation(uint64_t count)
{
	unsigned char *seen = mem_zero(count, 1);
	uint64_t fixed = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = rng_permute(7, i, count);
		expect(
		    at < count && !seen[at], "a permutation meets every position once");
		seen[at] = 1;
		fixed += at == i;
	}
	expect(count < 100 || fixed < 10, "a permutation moves nearly everything");
	free(seen);
}

static void
check_rng(void)
{
	struct rng a = rng_seed(1, 0), b = rng_seed(1, 0), c = rng_seed(1, 1);
	double sum = 0, square = 0;
	int64_t counts[7] = { 0 };

	for (int i = 0; i < 1000; i++) {
		uint64_t x = rng_next(&a);
		expect(x == rng_next(&b), "equal seeds give equal numbers");
		expect(x != rng_next(&c), "streams differ");
	}
	for (int i = 0; i < 70000; i++) {
		double x = rng_normal(&a);
		sum += x;
		square += x * x;
		counts[rng_below(&a, 7)]++;
		x = rng_uniform(&a);
		expect(x >= 0 && x < 1, "uniform numbers are in [0, 1)");
	}
	/* five standard errors; the seed is fixed, so this never flickers */
	expect(fabs(sum / 70000) < 5 / sqrt(70000), "normal numbers have mean 0");
	expect(fabs(square / 70000 - 1) < 5 * sqrt(2.0 / 70000), "and variance 1");
	for (int i = 0; i < 7; i++)
		expect(llabs(counts[i] - 10000) < 5 * 93, "rng_below is uniform");
	expect(rng_hash(0, "ab", 2) != rng_hash(0, "ba", 2), "the hash sees order");
	for (uint64_t count = 1; count < 70; count++)
		check_permutation(count);
	check_permutation(100003);
}

int
main(int argc, char **argv)
{
	program_name = "base_check";
	if (argc == 2 && !strcmp(argv[1], "overflow"))
		mem_new(SIZE_MAX / 2, 3);
	check_numbers();
	check_halves();
	check_conversions();
	check_rng();
	return 0;
}
