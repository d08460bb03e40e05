/*
 * shortest - the fewest decimal digits that read back as the same float or double; of those the ones
 * that are nearest to it.
 *
 * After Raffaello Giulietti, "The Schubfach way to render doubles", 2020: of the decimals that are
 * multiples of the largest power of ten 10^k not above the width of the interval that rounds to
 * the number, at most four come into question, and products of 126 bits tell them apart.
 */
#ifndef BASE_SHORTEST_H
#define BASE_SHORTEST_H

#include <stdint.h>

/* digits x 10^exponent; digits do not end in 0. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* Of a finite number above 0. */
struct decimal shortest_of_double(double value);
struct decimal shortest_of_float(float value);

/* The 126 leading bits of 10^n, cut off, in two words of 63, n in -292..324: for the test. */
void shortest_power(int n, uint64_t words[2]);

#endif
