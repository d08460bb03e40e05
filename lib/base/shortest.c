#include "base/shortest.h"

#include <stdbool.h>
#include <string.h>

enum { STEP = 27, FIRST = -297 };
static const uint64_t LOW = ~(uint64_t)0 >> 1; /* 63 bits */

/* The 192 leading bits of 10^FIRST, 10^(FIRST + STEP), ..., truncated. */
static const uint64_t powers[][3] = {
	{ 0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36 }, /* 1e-297 */
	{ 0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7 }, /* 1e-270 */
	{ 0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662 }, /* 1e-243 */
	{ 0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418 }, /* 1e-216 */
	{ 0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d }, /* 1e-189 */
	{ 0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396 }, /* 1e-162 */
	{ 0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3 }, /* 1e-135 */
	{ 0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec }, /* 1e-108 */
	{ 0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901 }, /* 1e-81 */
	{ 0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8 }, /* 1e-54 */
	{ 0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7 }, /* 1e-27 */
	{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 }, /* 1e+0 */
	{ 0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000 }, /* 1e+27 */
	{ 0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000 }, /* 1e+54 */
	{ 0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28 }, /* 1e+81 */
	{ 0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3 }, /* 1e+108 */
	{ 0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f }, /* 1e+135 */
	{ 0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5 }, /* 1e+162 */
	{ 0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c }, /* 1e+189 */
	{ 0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde }, /* 1e+216 */
	{ 0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47 }, /* 1e+243 */
	{ 0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c }, /* 1e+270 */
	{ 0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37 }, /* 1e+297 */
	{ 0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2 }, /* 1e+324 */
};

/* Powers of five between two table entries. */
static const uint64_t fives[STEP] = { 1, 5, 25, 125, 625, 3125, 15625, 78125, 390625,
	1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625u, 30517578125u,
	152587890625u, 762939453125u, 3814697265625u, 19073486328125u, 95367431640625u,
	476837158203125u, 2384185791015625u, 11920928955078125u, 59604644775390625u,
	298023223876953125u, 1490116119384765625u };

__extension__ typedef unsigned __int128 wide;

/* floor(n log10 2), floor(n log10 2 + log10 (3/4)), floor(n log2 10), for exponents of doubles. */
static int
log10_of_2(int n)
{
	return (int)((n * (int64_t)661971961083) >> 41);
}

static int
log10_of_3_quarters(int n)
{
	return (int)((n * (int64_t)661971961083 - 274743187321) >> 41);
}

static int
log2_of_10(int n)
{
	return (int)((n * (int64_t)913124641741) >> 38);
}

/* The table has 66 bits more than the result, so its truncation error does not reach
 * them; the test compares all of them with the exact powers. */
void
shortest_power(int n, uint64_t words[2])
{
	const uint64_t *base = powers[(n - FIRST) / STEP];
	uint64_t five = fives[(n - FIRST) % STEP];
	wide low = (wide)base[2] * five;
	wide middle = (wide)base[1] * five + (uint64_t)(low >> 64);
	wide high = (wide)base[0] * five + (uint64_t)(middle >> 64);
	/* the product is high : middle : low, 64 to 125 bits of it in high */
	uint64_t upper = (uint64_t)(high >> 64);
	int room = (upper ? __builtin_clzll(upper) : 64) - 2;
	wide top = high << room | (uint64_t)middle >> (64 - room);
	words[0] = (uint64_t)(top >> 63);
	words[1] = (uint64_t)top & LOW;
}

/* floor(power x number / 2^127), with the last bit set if the remainder is not 0. */
static uint64_t
scale(const uint64_t power[2], uint64_t number)
{
	wide low = (wide)power[1] * number, high = (wide)power[0] * number;
	wide rest = (uint64_t)(low >> 64) + ((uint64_t)high >> 1);
	uint64_t whole = (uint64_t)(high >> 64) + (uint64_t)(rest >> 63);

	return whole | (((uint64_t)rest & LOW) != 0);
}

/* For significand x 2^exponent.  uneven: the gap to the next number below is half the gap above. */
static struct decimal
shortest(uint64_t significand, int exponent, bool uneven)
{
	int k = uneven ? log10_of_3_quarters(exponent) : log10_of_2(exponent);
	int shift = exponent + log2_of_10(-k) + 2;
	uint64_t odd = significand & 1, four = significand << 2, power[2];

	shortest_power(-k, power);
	power[1]++;
	/* four times the number and the ends of its interval, in units of 10^k */
	uint64_t at = scale(power, four << shift);
	uint64_t least = scale(power, (four - 2 + uneven) << shift) + odd;
	uint64_t most = scale(power, (four + 2) << shift) - odd;
	uint64_t below = at >> 2, tens = below / 10 * 10;
	bool low = least <= tens << 2, high = (tens + 10) << 2 <= most;

	if (low != high) {
		struct decimal found = { low ? tens : tens + 10, k };
		for (; found.digits % 10 == 0; found.exponent++)
			found.digits /= 10;
		return found;
	}
	low = least <= below << 2;
	high = (below + 1) << 2 <= most;
	if (low != high)
		return (struct decimal){ low ? below : below + 1, k };
	/* the nearer; if equally near, the even one */
	uint64_t middle = (below << 2) + 2;
	bool up = at > middle || (at == middle && (below & 1));
	return (struct decimal){ below + up, k };
}

/* `bits`: a positive number in IEEE 754 format. */
static struct decimal
of_bits(uint64_t bits, int fraction_bits, int exponent_bits)
{
	uint64_t one = (uint64_t)1 << fraction_bits, fraction = bits & (one - 1);
	int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
	int least = 2 - (1 << (exponent_bits - 1)) - fraction_bits;

	if (!exponent)
		return shortest(fraction, least, false);
	return shortest(fraction | one, exponent - 1 + least, !fraction && exponent > 1);
}

struct decimal
shortest_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return of_bits(bits, 52, 11);
}

struct decimal
shortest_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return of_bits(bits, 23, 8);
}
