/*
 * harness - what the fuzz targets share: files made of an input's bytes, and runs that may die.
 *
 * Each tests/fuzz/fuzz_NAME.c is a libFuzzer target.  The harness stands in for lib/base/err.c: die
 * jumps back here instead of ending the process, and what the run still held (memory, maps, open
 * files) is taken back, so that millions of inputs are refused in one process.  A run that ends
 * well must have freed everything: a leak is a finding.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* A path to a folder in which the files made by harness_file lie. */
const char *harness_folder(void);

/* Make `name` in the folder (in a folder in it, one deep) hold these bytes; NULL: take it away.
 * In memory: nothing is written to a disk.  Returns its path. */
const char *harness_file(const char *name, const void *bytes, size_t size);

/* The input cut at bytes 0xff, which no UTF-8 has: part `index`, NULL where there are fewer. */
const uint8_t *harness_part(
    const uint8_t *data, size_t size, int index, size_t *part_size);

void harness_run(void (*run)(void *context), void *context);

#endif
