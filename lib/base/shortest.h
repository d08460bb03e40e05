/*
 * shortest - the shortest decimal that reads back as the same float or double, and of those the nearest.
 *
 * After Raffaello Giulietti, "The Schubfach way to render doubles", 2020.  Take the interval of reals that round to the
 * number, and the largest 10^k not above its width.  At most four multiples of 10^k are candidates; products of 126
 * bits decide between them.
 */
#ifndef BASE_SHORTEST_H
#define BASE_SHORTEST_H

#include <stdint.h>

/* digits x 10^exponent; the last digit is not 0. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* value: finite and above 0. */
struct decimal shortest_of_double(double value);
struct decimal shortest_of_float(float value);

/* For the test: the 126 leading bits of 10^n, truncated, in two words of 63; n in -292..324. */
void shortest_power(int n, uint64_t words[2]);

#endif
