/*
 * fingerprint - numbers that tell checkpoints apart, by the names, types, shapes and values of their tensors.
 *
 * For identity, not against malice. 
 */
#ifndef FOLDER_FINGERPRINT_H
#define FOLDER_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "folder/safetensors.h"

/* Of all values, up to 1 GiB of them; of a larger file, of so many in blocks of 1 MiB at equal distances.  soon: the
 * tensors are read again soon, and may stay in memory. */
uint64_t fingerprint_quick(const struct safetensors *file, bool soon);

/* Of all values, however many. */
uint64_t fingerprint_whole(const struct safetensors *file);

#endif
