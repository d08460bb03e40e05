#include "nn/cuda/gemm.h"
#include "nn/cuda/tune.h"

#include <cublasLt.h>

#include <array>
#include <map>
#include <mutex>

namespace
{

constexpr size_t WORKSPACE = (size_t)32 << 20; /* of a stream: split-K needs it */
constexpr size_t MOST = (size_t)1 << 21;       /* rows and columns: grids have limits */
constexpr size_t LONGEST = (size_t)1 << 30;    /* of a sum */
constexpr unsigned ALIGNED = 16;
constexpr int CANDIDATES = 8; /* algorithms that are tried, with MOTES_CUDA_TUNE=1 */

/* cuBLASLt's matrices are column-major, so it computes c^T = b^T a^T. */
struct description {
	cublasLtMatmulDescOpaque_t operation;
	cublasLtMatrixLayoutOpaque_t left, right, result;
};

struct type {
	cublasComputeType_t compute;
	cudaDataType_t in, out, scale;
	unsigned in_size, out_size;
};

/* The algorithm, and whether its epilogue adds the bias. */
struct plan {
	cublasLtMatmulAlgo_t algorithm;
	bool bias;
};

/* All that a plan depends on. */
typedef std::array<uint64_t, 12> key;

struct {
	std::mutex lock;
	std::map<key, struct plan> known;
} plans;

/* Of each stream, used by its thread alone. */
struct blas {
	cublasLtHandle_t handle;
	void *workspace;
} handles[STREAMS];

void
blas_check(cublasStatus_t status, const char *what)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		die("cuBLASLt: %s: %s", what, cublasLtGetStatusString(status));
}

const struct blas *
blas_of_stream(void)
{
	struct blas *mine = &handles[device_stream_number()];

	if (!mine->handle) {
		device_check(
		    cudaMallocAsync(&mine->workspace, WORKSPACE, device_stream()),
		    "memory of the device");
		blas_check(cublasLtCreate(&mine->handle), "to begin");
	}
	return mine;
}

struct type
type_of(enum gemm_type kind)
{
	switch (kind) {
	case GEMM_BF16:
		return { CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, 2, 4 };
	case GEMM_BF16_OUT:
		return { CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, 2, 2 };
	case GEMM_I8:
		return { CUBLAS_COMPUTE_32I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, 1, 4 };
	default:
		return { gemm_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
			CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 4, 4 };
	}
}

/* Alignment of all rows of a matrix in bytes: a power of 2, at most 16. */
unsigned
alignment(const void *at, size_t ld, unsigned size)
{
	uintptr_t bits = (uintptr_t)at | (uintptr_t)(ld * size) | ALIGNED;

	return (unsigned)(bits & -bits);
}

template <class T>
void
set(cublasLtMatmulDescOpaque_t *operation, cublasLtMatmulDescAttributes_t which, T value)
{
	blas_check(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value),
	    "an attribute");
}

template <class T>
void
prefer(cublasLtMatmulPreferenceOpaque_t *preference,
    cublasLtMatmulPreferenceAttributes_t which, T value)
{
	blas_check(
	    cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value),
	    "a preference");
}

void
lay_out(cublasLtMatrixLayoutOpaque_t *layout, cudaDataType_t type, size_t rows,
    size_t columns, size_t ld)
{
	blas_check(cublasLtMatrixLayoutInit(layout, type, rows, columns, (int64_t)ld),
	    "a matrix");
}

void
describe(struct description *d, const struct cublas_gemm *p, bool bias)
{
	struct type type = type_of(p->kind);
	int32_t left = p->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
	int32_t right = p->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;

	blas_check(
	    cublasLtMatmulDescInit(&d->operation, type.compute, type.scale), "a product");
	set(&d->operation, CUBLASLT_MATMUL_DESC_TRANSA, left);
	set(&d->operation, CUBLASLT_MATMUL_DESC_TRANSB, right);
	if (bias) {
		set(&d->operation, CUBLASLT_MATMUL_DESC_EPILOGUE,
		    (uint32_t)CUBLASLT_EPILOGUE_BIAS);
		set(&d->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p->bias);
	}
	lay_out(&d->left, type.in, p->b_transposed ? p->K : p->N,
	    p->b_transposed ? p->N : p->K, p->ldb);
	lay_out(&d->right, type.in, p->a_transposed ? p->M : p->K,
	    p->a_transposed ? p->K : p->M, p->lda);
	lay_out(&d->result, type.out, p->N, p->M, p->ldc);
}

/* Algorithms of cuBLASLt's heuristic, that which it expects to be quickest first; returns their number. */
int
find(cublasLtMatmulHeuristicResult_t (&found)[CANDIDATES], const struct cublas_gemm *p,
    bool bias, bool no_split_k)
{
	struct type type = type_of(p->kind);
	unsigned left = alignment(p->b, p->ldb, type.in_size);
	unsigned right = alignment(p->a, p->lda, type.in_size);
	unsigned result = alignment(p->c, p->ldc, type.out_size);
	cublasLtMatmulPreferenceOpaque_t preference;
	struct description d;
	int count = 0, some = 0;

	describe(&d, p, bias);
	blas_check(cublasLtMatmulPreferenceInit(&preference), "preferences");
	prefer(
	    &preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, (uint64_t)WORKSPACE);
	prefer(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, (uint32_t)left);
	prefer(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, (uint32_t)right);
	prefer(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, (uint32_t)result);
	prefer(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, (uint32_t)result);
	if (no_split_k)
		prefer(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
		    (uint32_t)CUBLASLT_REDUCTION_SCHEME_NONE);
	cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(blas_of_stream()->handle,
	    &d.operation, &d.left, &d.right, &d.result, &d.result, &preference,
	    tuning_wanted() ? CANDIDATES : 1, found, &count);
	if (status != CUBLAS_STATUS_SUCCESS)
		return 0;
	for (int i = 0; i < count; i++)
		if (found[i].state == CUBLAS_STATUS_SUCCESS)
			found[some++] = found[i];
	return some;
}

/* n rounded up to three binary digits, so that a plan serves similar numbers of tokens. */
size_t
rounded_up(size_t n)
{
	size_t step = 1;

	while (step * 8 < n)
		step *= 2;
	return round_up(n, step);
}

key
key_of(const struct cublas_gemm *p)
{
	struct type type = type_of(p->kind);
	uint64_t flags = (uint64_t)p->kind | (uint64_t)p->a_transposed << 2 |
			 (uint64_t)p->b_transposed << 3 | (uint64_t)p->no_split_k << 4 |
			 (uint64_t)(p->beta != 0) << 5;

	return { flags, p->M, p->N, p->K, p->lda, p->ldb, p->ldc,
		p->bias ? alignment(p->bias, 0, type.out_size) : 0,
		alignment(p->a, p->lda, type.in_size),
		alignment(p->b, p->ldb, type.in_size),
		alignment(p->c, p->ldc, type.out_size) };
}

/* Computes d = alpha a b + beta c + bias. */
cublasStatus_t
run(const struct cublas_gemm *p, const struct plan *plan, void *d_at)
{
	int32_t one = 1, none = 0;
	struct description d;
	bool integers = p->kind == GEMM_I8;
	const struct blas *blas = blas_of_stream();

	describe(&d, p, plan->bias);
	return cublasLtMatmul(blas->handle, &d.operation,
	    integers ? (const void *)&one : &p->alpha, p->b, &d.left, p->a, &d.right,
	    integers ? (const void *)&none : &p->beta, p->c, &d.result, d_at, &d.result,
	    &plan->algorithm, blas->workspace, WORKSPACE, device_stream());
}

/* The algorithm's number, tile and stages in cuBLASLt's own numbers, for --verbose. */
void
inform_of(const struct cublas_gemm *p, const cublasLtMatmulAlgo_t *algorithm, int count,
    const struct tuned *best)
{
	static const cublasLtMatmulAlgoConfigAttributes_t which[] = {
		CUBLASLT_ALGO_CONFIG_ID, CUBLASLT_ALGO_CONFIG_TILE_ID,
		CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_ALGO_CONFIG_SPLITK_NUM
	};
	int32_t is[4] = {};

	for (int i = 0; i < 4; i++)
		cublasLtMatmulAlgoConfigGetAttribute(
		    algorithm, which[i], &is[i], sizeof is[i], NULL);
	inform(
	    "cuBLASLt: %zu x %zu x %zu, kind %d%s: algorithm %d, tile %d, stages %d, split-K %d: proposal %d of %d, %.1f us, the first %.1f us",
	    p->M, p->N, p->K, (int)p->kind, p->bias ? " + bias" : "", (int)is[0],
	    (int)is[1], (int)is[2], (int)is[3], best->candidate + 1, count,
	    1e3 * (double)best->time, 1e3 * (double)best->first);
}

/* The quickest of the candidates for p, into a plan that has its other members. */
void
choose(struct plan *made, const cublasLtMatmulHeuristicResult_t *found, int count,
    const struct cublas_gemm *p)
{
	struct tuned best = {};
	unsigned size = type_of(p->kind).out_size;

	if (count > 1) {
		const struct tuned_result result = { p->M, p->ldc * size, p->N * size };
		best = tune(count, &result, [=](int candidate, void *to) {
			struct plan one = { found[candidate].algo, made->bias };
			return run(p, &one, to) == CUBLAS_STATUS_SUCCESS;
		});
	}
	made->algorithm = found[best.candidate].algo;
	if (tuning_wanted())
		inform_of(p, &made->algorithm, count, &best);
}

/* The plan for products like `like`, from cuBLASLt or from before; p is the one at hand. */
struct plan
plan_of(const struct cublas_gemm *like, const struct cublas_gemm *p)
{
	std::lock_guard<std::mutex> guard(plans.lock);
	cublasLtMatmulHeuristicResult_t found[CANDIDATES];
	struct plan made = {};
	key key = key_of(like);
	int count = 0;

	auto known = plans.known.find(key);
	if (known != plans.known.end())
		return known->second;
	if (p->bias)
		count = find(found, like, true, p->no_split_k);
	made.bias = count > 0;
	if (!count)
		count = find(found, like, false, p->no_split_k);
	if (!count && p->no_split_k)
		count = find(found, like, false, false);
	if (!count)
		die("cuBLASLt: nothing for a product of %zu x %zu x %zu, kind %d", p->M,
		    p->N, p->K, (int)p->kind);
	choose(&made, found, count, p);
	plans.known[key] = made;
	return made;
}

__device__ __forceinline__ void
set_to(float *at, float x)
{
	*at = x;
}

__device__ __forceinline__ void
set_to(__nv_bfloat16 *at, float x)
{
	*at = __float2bfloat16_rn(x);
}

/* c = beta c + bias; both are of that type */
template <class E, enum dtype TYPE>
__global__ void
begin(E *c, size_t ldc, const E *bias, float beta, size_t M, size_t N)
{
	for (size_t m = blockIdx.x; m < M; m += gridDim.x)
		for (size_t n = threadIdx.x; n < N; n += blockDim.x) {
			size_t at = m * ldc + n;
			float before = beta != 0 ? beta * element_of(c, TYPE, at) : 0;
			set_to(c + at, before + (bias ? element_of(bias, TYPE, n) : 0));
		}
}

void
begin_rows(const struct cublas_gemm *p, float beta)
{
	unsigned rows = (unsigned)(p->M < 1 << 16 ? p->M : 1 << 16);

	if (p->kind == GEMM_BF16_OUT)
		device_launch((begin<__nv_bfloat16, DTYPE_BF16>), rows, BLOCK, 0,
		    (__nv_bfloat16 *)p->c, p->ldc, (const __nv_bfloat16 *)p->bias, beta,
		    p->M, p->N);
	else
		device_launch((begin<float, DTYPE_F32>), rows, BLOCK, 0, (float *)p->c,
		    p->ldc, (const float *)p->bias, beta, p->M, p->N);
}

const void *
from(const void *at, size_t elements, unsigned size)
{
	return (const char *)at + elements * size;
}

/* Splits a product that is too large in two; the first part has `some` rows, columns or terms. */
void
split_m(const struct cublas_gemm *p, size_t some)
{
	struct type type = type_of(p->kind);
	struct cublas_gemm first = *p, second = *p;

	first.M = some;
	second.M -= some;
	second.a = from(p->a, p->a_transposed ? some : some * p->lda, type.in_size);
	second.c = (char *)p->c + some * p->ldc * type.out_size;
	cublas_gemm(&first);
	cublas_gemm(&second);
}

void
split_n(const struct cublas_gemm *p, size_t some)
{
	struct type type = type_of(p->kind);
	struct cublas_gemm first = *p, second = *p;

	first.N = some;
	second.N -= some;
	second.b = from(p->b, p->b_transposed ? some * p->ldb : some, type.in_size);
	second.c = (char *)p->c + some * type.out_size;
	second.bias = p->bias ? from(p->bias, some, type.out_size) : nullptr;
	cublas_gemm(&first);
	cublas_gemm(&second);
}

void
split_k(const struct cublas_gemm *p, size_t some)
{
	struct type type = type_of(p->kind);
	struct cublas_gemm first = *p, second = *p;

	first.K = some;
	second.K -= some;
	second.a = from(p->a, p->a_transposed ? some * p->lda : some, type.in_size);
	second.b = from(p->b, p->b_transposed ? some : some * p->ldb, type.in_size);
	second.bias = nullptr;
	second.beta = 1;
	cublas_gemm(&first);
	cublas_gemm(&second);
}
} // namespace

bool
gemm_tf32(void)
{
	static const char *const wanted = getenv("MOTES_TF32");

	return wanted && strcmp(wanted, "1") == 0;
}

void
cublas_gemm(const struct cublas_gemm *p)
{
	struct cublas_gemm alike = *p;

	if (!p->M || !p->N)
		return;
	if (p->M > MOST)
		return split_m(p, MOST);
	if (p->N > MOST)
		return split_n(p, MOST);
	if (p->K > LONGEST)
		return split_k(p, LONGEST);
	if (!p->K) {
		if (p->beta != 1 || p->bias)
			begin_rows(p, p->beta);
		return;
	}
	if (!p->a_transposed)
		alike.M = rounded_up(p->M);
	else if (!p->b_transposed)
		alike.K = rounded_up(p->K);
	struct plan plan = plan_of(&alike, p);
	cublasStatus_t status = run(p, &plan, p->c);
	if (status == CUBLAS_STATUS_INVALID_VALUE ||
	    status == CUBLAS_STATUS_NOT_SUPPORTED) {
		plan = plan_of(p, p);
		status = run(p, &plan, p->c);
	}
	blas_check(status, "a product");
	device_launched(cudaSuccess, "cuBLASLt", "a product");
	if (p->bias && !plan.bias)
		begin_rows(p, 1);
}
