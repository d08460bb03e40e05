/*
 * assignment - the assignment problem: a one-to-one matching of rows and columns with maximum total weight.
 */
#ifndef SCORE_MEASURE_ASSIGNMENT_H
#define SCORE_MEASURE_ASSIGNMENT_H

#include <stdint.h>

/* The maximum total of weight [rows, columns], each in -2^40..2^40, over matchings of all rows or all columns,
 * whichever are fewer.  The Hungarian method (Kuhn 1955) with shortest paths: O(fewer^2 x more). */
int64_t assignment_max(const int64_t *weight, int32_t rows, int32_t columns);

#endif
