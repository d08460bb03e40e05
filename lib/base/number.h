/*
 * number - numbers as people and files write them: one strict reader, the shortest writing.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number and nothing else: a sign, digits with a point, an exponent.  Blanks,
 * hexadecimal, NaN, infinity and what overflows are none. */
bool number_read(const char *text, size_t length, double *value);

/* The same, but only a sign and digits, in the range of int64_t. */
bool number_read_whole(const char *text, size_t length, int64_t *value);

/* As number_read, but an integer is exact as far as a long double goes: all of 64 bits. */
bool number_read_long(const char *text, size_t length, long double *value);

/* Into how many significant digits, at most 17, a finite double must be rounded to read back the same. */
int number_digits(double value);

/* The number in the fewest digits that read back as the same double (single: as the same float), or
 * more where that saves an exponent (1000); NaN, Infinity, -Infinity.  Without a NUL; returns the
 * length. */
enum { NUMBER_ROOM = 48 };
size_t number_put(char room[NUMBER_ROOM], double value, bool single);
size_t number_put_whole(char room[NUMBER_ROOM], int64_t value);

/* The same with a NUL.  Returns `room`. */
char *number_write(char room[NUMBER_ROOM], double value, bool single);

/* Three digits and a unit, "812", "12.3 k", "1.21 M"; of what is not below 0.  Returns `room`. */
char *number_for_people(char room[NUMBER_ROOM], double value);

#endif
