/* tile_map - descriptions of matrices for tile copies (hardware_hopper.h). */
#ifndef NN_CUDA_TILE_MAP_H
#define NN_CUDA_TILE_MAP_H

#include <cuda.h>

#include "nn/cuda/device.h"

/* True on compute capability 9.0, if the driver makes such descriptions. */
bool has_tile_maps();

/* Tiles of 64 columns and `high` rows, at most 256, of at[rows,C], bf16 with row stride ld: multiples of 16 bytes. */
void tile_map(
    CUtensorMap *map, const void *at, size_t rows, size_t C, size_t ld, int high);

#endif
