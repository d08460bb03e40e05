#include "base/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1000 };
static const char decimal[] = "0123456789";

/* Copied, because a value in a file is not followed by a NUL. */
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

int
number_digits(double value, bool single)
{
	char text[NUMBER_ROOM];
	double size = fabs(value);
	bool normal = size >= (single ? (double)FLT_MIN : DBL_MIN);
	int sure = single ? FLT_DIG : DBL_DIG, most = sure + (single ? 3 : 2);
	int count = normal ? sure : 1;

	for (; count < most; count++) {
		snprintf(text, sizeof text, "%.*g", count, value);
		if (single ? strtof(text, NULL) == (float)value
			   : strtod(text, NULL) == value)
			break;
	}
	if (count > sure || !normal)
		return count;
	/* so many digits are always kept: a shorter number that is the same ends in zeros here */
	snprintf(text, sizeof text, "%.*e", count - 1, value);
	for (const char *end = strchr(text, 'e'); end[-1] == '0' && count > 1; end--)
		count--;
	return count;
}

char *
number_write(char room[NUMBER_ROOM], double value, bool single)
{
	if (!isfinite(value)) {
		strcpy(room, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return room;
	}
	int digits = number_digits(value, single), plain = single ? FLT_DIG + 3 : DBL_DIG;
	snprintf(room, NUMBER_ROOM, "%.*g", digits, value);
	if (digits < plain && strstr(room, "e+")) /* 1000, not 1e+03 */
		snprintf(room, NUMBER_ROOM, "%.*g", plain, value);
	return room;
}
