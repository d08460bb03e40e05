/*
 * number - parses decimal numbers strictly and writes the shortest decimal that reads back equal.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a decimal number: sign, digits, point, exponent.  Returns false for anything else: blanks, hexadecimal, NaN,
 * infinity, overflow. */
bool number_read(const char *text, size_t length, double *value);

/* Parses a sign and digits in the range of int64_t. */
bool number_read_whole(const char *text, size_t length, int64_t *value);

/* As number_read; integers of 64 bits are exact. */
bool number_read_long(const char *text, size_t length, long double *value);

/* Significant digits, at most 17, to which a finite double must be rounded to read back equal. */
int number_digits(double value);

/* Writes the fewest digits that read back as the same double, or with `single` as the same float; zeros are added where
 * they save an exponent (1000).  Also NaN, Infinity and -Infinity.  Writes no NUL; returns the length. */
enum { NUMBER_ROOM = 48 };
size_t number_put(char room[NUMBER_ROOM], double value, bool single);
size_t number_put_whole(char room[NUMBER_ROOM], int64_t value);

/* As number_put, with a NUL.  Returns `room`. */
char *number_write(char room[NUMBER_ROOM], double value, bool single);

/* Writes three digits and a unit: "812", "12.3 k", "1.21 M".  value >= 0.  Returns `room`. */
char *number_for_people(char room[NUMBER_ROOM], double value);

#endif
