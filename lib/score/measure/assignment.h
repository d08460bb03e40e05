/*
 * assignment - rows matched with columns, one to one, so that what they have together is most.
 */
#ifndef SCORE_MEASURE_ASSIGNMENT_H
#define SCORE_MEASURE_ASSIGNMENT_H

#include <stdint.h>

/* The greatest sum of weight [rows, columns], in -2^40..2^40, over all matchings of the fewer of them (Kuhn 1955, with
 * shortest paths: fewer^2 x more steps). */
int64_t assignment_most(const int64_t *weight, int32_t rows, int32_t columns);

#endif
