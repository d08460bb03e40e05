#include "nn/cuda/tile_map.h"

namespace
{

typedef CUresult describe_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
    const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill);

describe_function *
find_describe()
{
	cudaDriverEntryPointQueryResult found;
	void *function = nullptr;
	int device, major, minor;

	device_check(cudaGetDevice(&device), "the device");
	device_check(
	    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
	    "the device");
	device_check(
	    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
	    "the device");
	if (major != 9 || minor != 0 ||
	    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
		cudaEnableDefault, &found) != cudaSuccess ||
	    found != cudaDriverEntryPointSuccess)
		return nullptr;
	return (describe_function *)function;
}

describe_function *
describe()
{
	static describe_function *const function = find_describe();

	return function;
}
} // namespace

bool
has_tile_maps()
{
	return describe();
}

void
tile_map(CUtensorMap *map, const void *at, size_t rows, size_t C, size_t ld, int high)
{
	cuuint64_t sizes[2] = { C, rows ? rows : 1 }, stride = ld * sizeof(__nv_bfloat16);
	cuuint32_t box[2] = { 64, (cuuint32_t)high }, steps[2] = { 1, 1 };

	if (describe()(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)at, sizes,
		&stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
		CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
		device_check(cudaErrorInvalidValue, "a matrix of tensor copies");
}
