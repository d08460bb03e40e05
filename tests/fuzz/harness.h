/*
 * harness - shared by the fuzz targets: files with an input's bytes, and runs that may die
 *
 * Each tests/fuzz/fuzz_NAME.c is a libFuzzer target.  The harness replaces lib/base/err.c: die jumps back here instead of
 * ending the process, and frees what the run still had (memory, maps, open files), so that one process can refuse millions of
 * inputs.  A run that ends normally must have freed everything: a leak is a finding.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* The path of the folder with the files of harness_file. */
const char *harness_folder(void);

/* Writes `size` bytes to the file `name` of the folder, which may be in a subfolder; bytes NULL: removes the file.  Files are
 * kept in memory, not on a disk.  Returns the path. */
const char *harness_file(const char *name, const void *bytes, size_t size);

/* Part `index` of the input, whose parts are separated by bytes 0xff, which UTF-8 never has; NULL: there are fewer. */
const uint8_t *harness_part(
    const uint8_t *data, size_t size, int index, size_t *part_size);

void harness_run(void (*run)(void *context), void *context);

#endif
