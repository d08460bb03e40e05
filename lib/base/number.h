/*
 * number - numbers as people and files write them: one strict reader, the shortest writing.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number and nothing else: a sign, digits with a point, an exponent.  Blanks,
 * hexadecimal, NaN, infinity and what overflows are none. */
bool number_read(const char *text, size_t length, double *value);

/* The same, but only a sign and digits, in the range of int64_t. */
bool number_read_whole(const char *text, size_t length, int64_t *value);

/* How many significant digits, at most 17 (single: 9), are enough to read back the same double
 * (single: the same float). */
int number_digits(double value, bool single);

/* The number in so many digits, or more where that saves an exponent (1000); NaN, Infinity, -Infinity.  Returns `room`. */
enum { NUMBER_ROOM = 32 };
char *number_write(char room[NUMBER_ROOM], double value, bool single);

#endif
