/* cuda - the part of the driver's interface that lib/nn/cuda uses: descriptions of matrices for tile copies. */
#ifndef SHIM_CUDA_H
#define SHIM_CUDA_H

#include <cstddef>
#include <cstdint>

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
enum CUresult { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE };
enum CUtensorMapDataType { CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 };
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_128B };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_L2_256B };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };

/* A matrix of bf16 in boxes of 64 columns. */
struct CUtensorMap {
	const uint16_t *at;
	uint64_t columns, rows, stride; /* stride: in elements */
	uint32_t high;			/* rows of a box */
};

#endif
