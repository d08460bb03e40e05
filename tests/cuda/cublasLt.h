/*
 * cublasLt - a shim of cuBLASLt: the part that lib/nn/cuda uses, on the processor.  D = alpha op(A) op(B) + beta C + bias of
 * column-major matrices of f32, bf16 or i8.
 *
 * It refuses what the library refuses: types that do not go together, shapes that do not match, a stride below the column length,
 * i8 in any but the one supported form; an algorithm found for another operation, less alignment or workspace than was
 * promised.  MOTES_LACKS=bias,one-piece,other-sizes: no bias epilogue, no algorithm without split-K, no algorithm for sizes other
 * than it was found for.
 *
 * If allowed, it splits K of long sums with small results, so that, as on a device, bits may depend on the sizes.  TF32 rounds.
 * It proposes three algorithms at most: of the second, sums are in another order if K may be split.
 */
#ifndef SHIM_CUBLASLT_H
#define SHIM_CUBLASLT_H

#include <cuda_runtime.h>

enum cudaDataType_t {
	CUDA_R_32F = 0,
	CUDA_R_8I = 3,
	CUDA_R_32I = 10,
	CUDA_R_16BF = 14,
};
typedef cudaDataType_t cudaDataType;

enum cublasStatus_t {
	CUBLAS_STATUS_SUCCESS = 0,
	CUBLAS_STATUS_NOT_INITIALIZED = 1,
	CUBLAS_STATUS_ALLOC_FAILED = 3,
	CUBLAS_STATUS_INVALID_VALUE = 7,
	CUBLAS_STATUS_NOT_SUPPORTED = 15,
};

enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

enum cublasComputeType_t {
	CUBLAS_COMPUTE_32F = 68,
	CUBLAS_COMPUTE_32I = 72,
	CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};

enum cublasLtMatmulDescAttributes_t {
	CUBLASLT_MATMUL_DESC_TRANSA = 3,
	CUBLASLT_MATMUL_DESC_TRANSB = 4,
	CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
	CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
};

enum cublasLtEpilogue_t { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4 };

enum cublasLtMatmulPreferenceAttributes_t {
	CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
	CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
	CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
	CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
	CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
	CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};

enum cublasLtMatmulAlgoConfigAttributes_t {
	CUBLASLT_ALGO_CONFIG_ID = 0,
	CUBLASLT_ALGO_CONFIG_TILE_ID = 1,
	CUBLASLT_ALGO_CONFIG_SPLITK_NUM = 2,
	CUBLASLT_ALGO_CONFIG_STAGES_ID = 6,
};

enum cublasLtReductionScheme_t {
	CUBLASLT_REDUCTION_SCHEME_NONE = 0,
	CUBLASLT_REDUCTION_SCHEME_MASK = 7,
};

typedef struct shim_cublas *cublasLtHandle_t;

/* The opaque structures have the library's sizes. */
struct cublasLtMatrixLayoutOpaque_t {
	uint64_t data[8];
};
struct cublasLtMatmulAlgo_t {
	uint64_t data[8];
};
struct cublasLtMatmulDescOpaque_t {
	uint64_t data[32];
};
struct cublasLtMatmulPreferenceOpaque_t {
	uint64_t data[8];
};
typedef cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;

struct cublasLtMatmulHeuristicResult_t {
	cublasLtMatmulAlgo_t algo;
	size_t workspaceSize;
	cublasStatus_t state;
	float wavesCount;
	int reserved[4];
};

const char *cublasLtGetStatusString(cublasStatus_t status);
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle);
cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t to, cudaDataType type,
    uint64_t rows, uint64_t columns, int64_t ld);
cublasStatus_t cublasLtMatmulDescInit(
    cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType_t scale);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
    cublasLtMatmulDescAttributes_t which, const void *value, size_t size);
cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t to);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t which, const void *value, size_t size);
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
    cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t A, cublasLtMatrixLayout_t B,
    cublasLtMatrixLayout_t C, cublasLtMatrixLayout_t D,
    cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t *results, int *found);
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
    cublasLtMatmulAlgoConfigAttributes_t which, void *value, size_t size,
    size_t *written);
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
    const void *alpha, const void *A, cublasLtMatrixLayout_t A_layout, const void *B,
    cublasLtMatrixLayout_t B_layout, const void *beta, const void *C,
    cublasLtMatrixLayout_t C_layout, void *D, cublasLtMatrixLayout_t D_layout,
    const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspace_size,
    cudaStream_t stream);

#endif
