/*
 * undersample - the training rows that MTEB's classification draws, experiment by experiment.
 *
 * Each shuffles the rows by numpy's generator, seeded anew, going on from the order before, and
 * walks them, taking each whose label has not enough yet.
 */
#ifndef UNDERSAMPLE_H
#define UNDERSAMPLE_H

#include <stdint.h>

/* The rows that an experiment trains on, in the order of the walk; owned. */
struct sample {
	int64_t *rows;
	int64_t size;
};

/* [experiments], to be freed with their rows; label [n] counts from 0 to classes - 1. */
struct sample *undersample(const int32_t *label, int64_t n, int32_t classes, int most,
    int experiments, uint32_t seed);

#endif
