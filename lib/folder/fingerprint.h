/*
 * fingerprint - hashes of checkpoints: names, dtypes, shapes and values of their tensors.
 *
 * Not cryptographic.
 */
#ifndef FOLDER_FINGERPRINT_H
#define FOLDER_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "folder/safetensors.h"

/* Hashes all values of up to 1 GiB; of a larger file, 1 GiB in evenly spaced blocks of 1 MiB.  soon: the caller reads
 * the tensors next, so they stay in memory. */
uint64_t fingerprint_quick(const struct safetensors *file, bool soon);

/* Hashes all values. */
uint64_t fingerprint_whole(const struct safetensors *file);

#endif
