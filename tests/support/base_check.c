/*
 * base_check - check lib/base against definitions: every half and bfloat16, lengths of paths, numbers as text, ranges and
 * permutations of the random numbers, sizes that overflow
 *
 * Prints nothing and exits 0 if all checks pass; else prints the first fault and exits 1.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/shortest.h"
#include "base/terminal.h"
#include "stream/tensor.h"

static void
expect(int holds, const char *what)
{
	if (!holds)
		die("does not hold: %s", what);
}

static void
check_paths(void)
{
	expect(file_path_length("") == 0 && file_path_length("/") == 1 &&
		   file_path_length("//") == 1 && file_path_length("a//") == 1 &&
		   file_path_length("/a/b/") == 4 && file_path_length("a") == 1,
	    "slashes at the end of a path are not counted, but for the root's");
	char *beside = file_beside("a/b//", "log");
	expect(!strcmp(beside, "a/b.log"), "a name beside a folder");
	free(beside);
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
	char zeros[1001];
	memset(zeros, '0', sizeof zeros);
	expect(number_read(zeros, 1000, &value) && value == 0, "1,000 digits are read");
	expect(!number_read(zeros, 1001, &value), "more are not");
	expect(!strcmp(number_for_people(room, 999.4e15), "999 P") &&
		   !strcmp(number_for_people(room, 2e18), "2e+03 P"),
	    "the largest unit");
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

static void
check_written(void)
{
	static const struct {
		double value;
		const char *text;
	} doubles[] = { { 5e-324, "5e-324" }, { 1e-323, "1e-323" },
		{ 0x1p-1022, "2.2250738585072014e-308" },
		{ 0x1p-44, "5.684341886080802e-14" },
		{ 9007199254740993.0, "9007199254740992" }, { 1e15, "1e+15" },
		{ 999999999999999.0, "999999999999999" }, { 1e22, "1e+22" },
		{ 1e23, "1e+23" }, { 123456789012345680.0, "1.2345678901234568e+17" },
		{ 0.0001, "0.0001" }, { 0.00001, "1e-05" },
		{ -2.0 / 3, "-0.6666666666666666" }, { -0.0, "-0" }, { NAN, "NaN" },
		{ -INFINITY, "-Infinity" } };
	static const struct {
		float value;
		const char *text;
	} floats[] = { { 0x1p-149f, "1e-45" }, { 0x1p-126f, "1.1754944e-38" },
		{ FLT_MAX, "3.4028235e+38" }, { 1e25f, "1e+25" }, { 1e9f, "1e+09" },
		{ 123456792.0f, "123456792" }, { 16777216.0f, "16777216" },
		{ 0.3f, "0.3" }, { 9.8e-45f, "1e-44" }, { INFINITY, "Infinity" } };
	char room[NUMBER_ROOM];

	for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
		expect(
		    !strcmp(number_write(room, doubles[i].value, false), doubles[i].text),
		    doubles[i].text);
	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
		expect(!strcmp(number_write(room, (double)floats[i].value, true),
			   floats[i].text),
		    floats[i].text);
	expect(number_put_whole(room, INT64_MIN) == 20 &&
		   !memcmp(room, "-9223372036854775808", 20),
	    "the least whole number");
	expect(number_put_whole(room, 0) == 1 && *room == '0', "0 is written");
	expect(number_digits(0x1p-44) == 17 && number_digits(0.1) == 1 &&
		   number_digits(0) == 1,
	    "digits are counted");
}

static void
check_terminal(void)
{
	char *line = terminal_line("\033\033abc", 5, 4);

	expect(!strcmp(line, "??a\xe2\x80\xa6"), "what is replaced takes a column");
	free(line);
}

/* The exact powers of ten, in words of 32 bits, the lowest first: 10^n, or 2^1280 / 10^-n. */
static void
check_powers(int sign)
{
	enum { WORDS = 40 };
	uint32_t number[WORDS] = { sign > 0 };
	uint64_t words[2];

	if (sign < 0)
		memset(number, 255, sizeof number); /* 2^1280 - 1 */
	for (int n = 0; n <= (sign > 0 ? 324 : 292); n++) {
		int high = WORDS * 32 - 1;
		uint64_t exact[2] = { 0 };
		while (!(number[high / 32] >> high % 32 & 1))
			high--;
		for (int i = 0; i < 126; i++, high--) {
			uint64_t bit = high < 0 ? 0 : number[high / 32] >> high % 32 & 1;
			exact[i / 63] = exact[i / 63] << 1 | bit;
		}
		shortest_power(sign * n, words);
		expect((sign < 0 && !n) || (words[0] == exact[0] && words[1] == exact[1]),
		    "the powers of ten are exact");
		uint64_t carry = 0;
		for (int i = 0; i < WORDS && sign > 0; i++) {
			carry += (uint64_t)number[i] * 10;
			number[i] = (uint32_t)carry;
			carry >>= 32;
		}
		for (int i = WORDS - 1; i >= 0 && sign < 0; i--) {
			carry = carry << 32 | number[i];
			number[i] = (uint32_t)(carry / 10);
			carry %= 10;
		}
	}
}

static bool
reads_back(uint64_t digits, int exponent, double value, bool single)
{
	char text[64];

	snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
	return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* The number rounded to so many digits by printf, which is exact. */
static struct decimal
rounded(double value, int digits)
{
	struct decimal made = { 0, 0 };
	char text[64];

	snprintf(text, sizeof text, "%.*e", digits - 1, value);
	for (const char *at = text; *at != 'e'; at++)
		if (*at != '.')
			made.digits = made.digits * 10 + (uint64_t)(*at - '0');
	made.exponent = atoi(strchr(text, 'e') + 1) - digits + 1;
	return made;
}

/* The text reads back as the value; no shorter text does; none of the same length is nearer. */
static void
check_shortest(double value, bool single)
{
	struct decimal found =
	    single ? shortest_of_float((float)value) : shortest_of_double(value);
	int count = 1;

	for (uint64_t digits = found.digits; digits > 9; digits /= 10)
		count++;
	expect(reads_back(found.digits, found.exponent, value, single), "it reads back");
	struct decimal near = rounded(value, count);
	expect(!reads_back(near.digits, near.exponent, value, single) ||
		   (near.digits == found.digits && near.exponent == found.exponent),
	    "the nearest of the shortest");
	if (count == 1)
		return;
	near = rounded(value, count - 1);
	for (uint64_t i = 0; i < 3; i++)
		expect(!reads_back(near.digits + i - 1, near.exponent, value, single),
		    "none is shorter");
}

static void
check_all_shortest(void)
{
	struct rng rng = rng_seed(5, 0);

	check_powers(1);
	check_powers(-1);
	for (int e = -1074; e < 1024; e++) {
		double power = ldexp(1, e);
		check_shortest(power, false);
		check_shortest(nextafter(power, INFINITY), false);
		if (e > -1074)
			check_shortest(nextafter(power, 0), false);
		if (e < -148 || e > 127)
			continue;
		check_shortest(power, true);
		check_shortest((double)nextafterf((float)power, INFINITY), true);
		check_shortest((double)nextafterf((float)power, 0), true);
	}
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t bits = rng_next(&rng) >> 1;
		uint32_t half = (uint32_t)bits >> 1;
		double value;
		float single;
		memcpy(&value, &bits, sizeof value);
		memcpy(&single, &half, sizeof single);
		if (isfinite(value) && value > 0)
			check_shortest(value, false);
		if (isfinite(single) && single > 0)
			check_shortest((double)single, true);
		check_shortest((double)(i + 1), false);
		check_shortest((double)(i + 1) / 1000, false);
		check_shortest((double)(float)((double)(i + 1) / 1000), true);
		check_shortest((double)(i + 1) * 0x1p-1074, false);
		check_shortest((double)(i + 1) * 0x1p-149, true);
	}
	for (uint16_t i = 1; i < 0x7c00; i++)
		check_shortest((double)f16_widen(i), true);
	for (uint16_t i = 1; i < 0x7f80; i++)
		check_shortest((double)bf16_widen(i), true);
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
		/* an odd address: the function must not assume alignment */
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
	/* five standard errors; the seed is fixed, so the result is too */
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
	check_paths();
	check_numbers();
	check_written();
	check_terminal();
	check_all_shortest();
	check_halves();
	check_conversions();
	check_rng();
	return 0;
}
