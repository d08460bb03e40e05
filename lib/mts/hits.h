/*
 * hits - what a search found, on standard output: for people, or as JSON.
 */
#ifndef MTS_HITS_H
#define MTS_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "search/run.h"

/* A query, and a line a hit, cut to so many columns (0: not). */
void hits_print(const struct run *run, int64_t query, int width);

/* An object of id, text and hits. */
void hits_print_json(const struct run *run, int64_t query);

/* Of a run of a stream in itself, all at once: each pair of rows that one of them found, once, the best first; two lines a
 * pair, or an object of score and pair.  Memory: 24 bytes a hit. */
void hits_print_pairs(const struct run *run, bool json, int width);

#endif
