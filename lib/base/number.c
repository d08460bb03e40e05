#include "base/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shortest.h"

enum { LONGEST = 1000 };
static const char decimal[] = "0123456789";

/* strtod needs a NUL, so the text is copied. */
static bool
copy(char to[LONGEST + 1], const char *text, size_t length)
{
	if (!length || length > LONGEST)
		return false;
	memcpy(to, text, length);
	to[length] = 0;
	return true;
}

bool
number_read(const char *text, size_t length, double *value)
{
	char number[LONGEST + 1], *end;

	if (!copy(number, text, length))
		return false;
	const char *at = number + strspn(number, "+-");
	at += *at == '.';
	if (!*at || !strchr(decimal, *at) || strspn(number, "0123456789.eE+-") != length)
		return false;
	*value = strtod(number, &end);
	return end == number + length && isfinite(*value);
}

bool
number_read_whole(const char *text, size_t length, int64_t *value)
{
	char number[LONGEST + 1], *end;

	if (!copy(number, text, length))
		return false;
	const char *at = number + (*number == '+' || *number == '-');
	if (!*at || at + strspn(at, decimal) != number + length)
		return false;
	errno = 0;
	*value = strtoll(number, &end, 10);
	return !errno;
}

bool
number_read_long(const char *text, size_t length, long double *value)
{
	char number[LONGEST + 1];
	double real;

	if (!number_read(text, length, &real) || !copy(number, text, length))
		return false;
	*value = strpbrk(number, ".eE") ? (long double)real : strtold(number, NULL);
	return true;
}

enum { DIGITS = 20 }; /* decimal digits of 2^64 */

/* Writes the digits of an integer, at least `least`, right-aligned in room[DIGITS]; returns their count. */
static int
put_digits(char room[DIGITS], uint64_t number, int least)
{
	char *at = room + DIGITS;

	for (; number >= 10 || least > 1; number /= 10, least--)
		*--at = decimal[number % 10];
	*--at = decimal[number];
	return (int)(room + DIGITS - at);
}

/* Writes them left-aligned at to[DIGITS]; returns the end. */
static char *
put_whole(char *to, uint64_t number, int least)
{
	char digits[2 * DIGITS] = { 0 };
	int count = put_digits(digits, number, least);

	memcpy(to, digits + DIGITS - count, DIGITS); /* a constant size: inlined */
	return to + count;
}

size_t
number_put_whole(char room[NUMBER_ROOM], int64_t value)
{
	*room = '-';
	return value < 0 ? (size_t)(put_whole(room + 1, -(uint64_t)value, 1) - room)
			 : (size_t)(put_whole(room, (uint64_t)value, 1) - room);
}

/* Writes `count` digits with a point after the first `whole`; whole < 1: 0.00123.  Copies of constant size read DIGITS
 * bytes of `digits` and write as many after `to`. */
static char *
put_point(char *to, const char *digits, int count, int whole)
{
	if (whole < 1) {
		memcpy(to, "0.000000", 8);
		to += 2 - whole;
		memcpy(to, digits, DIGITS);
		return to + count;
	}
	memcpy(to, digits, DIGITS);
	if (whole == count)
		return to + whole;
	to += whole;
	*to++ = '.';
	memcpy(to, digits + whole, DIGITS);
	return to + count - whole;
}

size_t
number_put(char room[NUMBER_ROOM], double value, bool single)
{
	char digits[3 * DIGITS] = { 0 }, *to = room;
	int plain = single ? FLT_DIG + 3 : DBL_DIG;

	if (!isfinite(value)) {
		strcpy(room, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return strlen(room);
	}
	if (signbit(value))
		*to++ = '-';
	value = fabs(value);
	if (value == 0) {
		*to++ = '0';
		return (size_t)(to - room);
	}
	struct decimal found =
	    single ? shortest_of_float((float)value) : shortest_of_double(value);
	int count = put_digits(digits, found.digits, 1);
	int power = count - 1 + found.exponent; /* of the first digit */
	const char *first = digits + DIGITS - count;
	if (power >= -4 && power < (count > plain ? count : plain)) {
		to = power < count ? put_point(to, first, count, power + 1)
				   : put_whole(to, (uint64_t)value, 1);
		return (size_t)(to - room);
	}
	to = put_point(to, first, count, 1);
	*to++ = 'e';
	*to++ = power < 0 ? '-' : '+';
	return (size_t)(put_whole(to, (uint64_t)abs(power), 2) - room);
}

char *
number_write(char room[NUMBER_ROOM], double value, bool single)
{
	room[number_put(room, value, single)] = 0;
	return room;
}

int
number_digits(double value)
{
	char text[NUMBER_ROOM];
	int count = 1;

	if (value == 0 || !isfinite(value))
		return 1;
	for (uint64_t digits = shortest_of_double(fabs(value)).digits; digits > 9;
	     digits /= 10)
		count++;
	/* next to a power of two the shortest decimal may differ from the value rounded to as many digits */
	snprintf(text, sizeof text, "%.*g", count, value);
	return strtod(text, NULL) == value ? count : count + 1;
}

char *
number_for_people(char room[NUMBER_ROOM], double value)
{
	static const char *const units[] = { "", " k", " M", " G", " T", " P" };
	size_t unit = 0;

	for (; value >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
		value /= 1000;
	snprintf(room, NUMBER_ROOM, "%.3g%s", value, units[unit]);
	return room;
}
