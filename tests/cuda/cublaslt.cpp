/* GEMM as cuBLASLt has it (cublasLt.h), by plain blocked loops. */
#include <cublasLt.h>

#include <cstdlib>
#include <vector>

#include "shim_half.h"

namespace
{

/* The contents of the opaque structures. */
struct layout {
	uint64_t type, rows, columns, ld;
};
struct operation {
	uint64_t compute, scale, left, right, epilogue;
	const void *bias;
};
struct preference {
	uint64_t workspace, schemes, aligned[4]; /* A, B, C, D */
};
struct algorithm {
	uint64_t known; /* the operation that it was found for */
	uint64_t aligned[4], pieces, sizes;
	uint32_t bias_aligned, number;
};

static_assert(sizeof(struct layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "layout");
static_assert(
    sizeof(struct operation) <= sizeof(cublasLtMatmulDescOpaque_t), "operation");
static_assert(
    sizeof(struct preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t), "preference");
static_assert(sizeof(struct algorithm) <= sizeof(cublasLtMatmulAlgo_t), "algorithm");

template <class T, class Opaque>
T
inside(const Opaque *opaque)
{
	T held;

	memcpy(&held, opaque, sizeof held);
	return held;
}

template <class T, class Opaque>
void
put_inside(Opaque *opaque, const T &held)
{
	memcpy(opaque, &held, sizeof held);
}

/* One product: op(A) is m x k, op(B) k x n. */
struct product {
	struct operation operation;
	struct layout a, b, c, d;
	size_t m, n, k;
};

size_t
size_of(uint64_t type)
{
	return type == CUDA_R_8I ? 1 : type == CUDA_R_16BF ? 2 : 4;
}

bool
types_fit(const struct product *p)
{
	uint64_t in = p->a.type, out = p->d.type, scale = p->operation.scale;

	if (p->b.type != in || p->c.type != out)
		return false;
	switch (p->operation.compute) {
	case CUBLAS_COMPUTE_32F:
		return scale == CUDA_R_32F &&
		       (in == CUDA_R_16BF ? out == CUDA_R_32F || out == CUDA_R_16BF
					  : in == CUDA_R_32F && out == CUDA_R_32F);
	case CUBLAS_COMPUTE_32F_FAST_TF32:
		return scale == CUDA_R_32F && out == CUDA_R_32F && in == CUDA_R_32F;
	case CUBLAS_COMPUTE_32I:
		return scale == CUDA_R_32I && out == CUDA_R_32I && in == CUDA_R_8I;
	default: return false;
	}
}

/* i8: A transposed, B not, no epilogue, m, k and all strides multiples of 4; and, as undocumented, more than 16 columns,
 * a multiple of 8. */
bool
i8_fits(const struct product *p)
{
	return p->operation.left == CUBLAS_OP_T && p->operation.right == CUBLAS_OP_N &&
	       p->operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT && p->m % 4 == 0 &&
	       p->k % 4 == 0 && p->a.ld % 4 == 0 && p->b.ld % 4 == 0 &&
	       p->d.ld % 4 == 0 && p->n > 16 && p->n % 8 == 0;
}

bool
lacks(const char *what)
{
	const char *all = getenv("MOTES_LACKS");

	return all && strstr(all, what);
}

cublasStatus_t
take(struct product *p, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t A,
    cublasLtMatrixLayout_t B, cublasLtMatrixLayout_t C, cublasLtMatrixLayout_t D)
{
	p->operation = inside<struct operation>(desc);
	p->a = inside<struct layout>(A);
	p->b = inside<struct layout>(B);
	p->c = inside<struct layout>(C);
	p->d = inside<struct layout>(D);
	bool transposed_a = p->operation.left == CUBLAS_OP_T;
	bool transposed_b = p->operation.right == CUBLAS_OP_T;
	p->m = transposed_a ? p->a.columns : p->a.rows;
	p->k = transposed_a ? p->a.rows : p->a.columns;
	p->n = transposed_b ? p->b.rows : p->b.columns;
	if ((transposed_b ? p->b.columns : p->b.rows) != p->k || p->d.rows != p->m ||
	    p->d.columns != p->n || p->c.rows != p->m || p->c.columns != p->n ||
	    p->c.ld < p->c.rows || p->d.ld < p->d.rows || p->a.ld < p->a.rows ||
	    p->b.ld < p->b.rows || !p->m || !p->n || !p->k)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX || !types_fit(p) ||
	    (p->a.type == CUDA_R_8I && !i8_fits(p)))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (p->operation.epilogue != CUBLASLT_EPILOGUE_BIAS)
		return CUBLAS_STATUS_SUCCESS;
	return !p->operation.bias ? CUBLAS_STATUS_INVALID_VALUE
	       : lacks("bias")	  ? CUBLAS_STATUS_NOT_SUPPORTED
				  : CUBLAS_STATUS_SUCCESS;
}

/* The operation of an algorithm, without sizes. */
uint64_t
known(const struct product *p)
{
	return 1 | p->operation.left << 1 | p->operation.right << 2 |
	       p->operation.epilogue << 3 | p->a.type << 8 | p->operation.compute << 16 |
	       p->d.type << 24;
}

uint64_t
sizes(const struct product *p)
{
	return (p->m * 1000003 + p->n) * 1000003 + p->k;
}

size_t
workspace_of(const struct product *p, uint64_t pieces)
{
	return pieces > 1 ? p->m * p->n * sizeof(float) : 0;
}

bool
aligned(const void *at, uint64_t ld, uint64_t type, uint64_t bytes)
{
	return (uintptr_t)at % bytes == 0 &&
	       (bytes > 16 || ld * size_of(type) % bytes == 0);
}

/* A pointer's alignment, at most 16. */
uint64_t
alignment(const void *at)
{
	uintptr_t bits = (uintptr_t)at | 16;

	return bits & -bits;
}

/* Rows of op(A) and columns of op(B), gathered as T. */

template <class T>
T
number(const void *at, uint64_t type, size_t i)
{
	switch (type) {
	case CUDA_R_8I: return (T)((const int8_t *)at)[i];
	case CUDA_R_16BF: return (T)half_value(((const uint16_t *)at)[i]);
	default: return (T)((const float *)at)[i];
	}
}

/* Rounds to TF32's 10 mantissa bits, ties away from zero. */
float
tf32(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	if (!std::isfinite(x))
		return x;
	bits = (bits + 0x1000) & ~0x1fffu;
	memcpy(&x, &bits, sizeof x);
	return x;
}

constexpr size_t HIGH = 128, WIDE = 4;

/* to[k][some]: the terms from..to-1 of the lines first.. of a matrix, a line's terms `step` apart. */
template <class T>
void
gather(T *to, size_t stride, const void *at, uint64_t type, size_t line, size_t step,
    size_t first, size_t some, size_t begin, size_t end, bool rounded)
{
	for (size_t i = 0; i < some; i++)
		for (size_t k = begin; k < end; k++) {
			T x = number<T>(at, type, (first + i) * line + k * step);
			to[(k - begin) * stride + i] = rounded ? (T)tf32((float)x) : x;
		}
}

/* sums[WIDE][HIGH] of a block; without sanitizers, since all memory belongs to this file */
template <class T>
__attribute__((no_sanitize("address", "undefined"))) void
block(T (*sums)[HIGH], const T *a, const T *b, size_t depth)
{
	memset(sums, 0, WIDE * sizeof *sums);
	for (size_t k = 0; k < depth; k++, a += HIGH, b += WIDE)
		for (size_t j = 0; j < WIDE; j++)
#pragma omp simd
			for (size_t i = 0; i < HIGH; i++)
				sums[j][i] += a[i] * b[j];
}

struct call {
	const struct product *p;
	const void *a, *b, *c, *alpha, *beta;
	void *d;
	size_t pieces;
};

/* An element of c or a bias: of bf16, or of the sums' type. */
template <class T>
T
stored(const void *at, uint64_t type, size_t i)
{
	return type == CUDA_R_16BF ? number<T>(at, type, i) : ((const T *)at)[i];
}

template <class T>
void
put_block(const struct call *call, T (*sums)[HIGH], size_t m, size_t high, size_t n,
    size_t wide)
{
	const struct product *p = call->p;
	uint64_t type = p->d.type;
	T alpha, beta;

	memcpy(&alpha, call->alpha, sizeof alpha);
	memcpy(&beta, call->beta, sizeof beta);
	for (size_t j = 0; j < wide; j++)
		for (size_t i = 0; i < high; i++) {
			size_t at = (n + j) * p->d.ld + m + i;
			T x = alpha * sums[j][i];
			if (beta != 0)
				x += beta *
				     stored<T>(call->c, type, (n + j) * p->c.ld + m + i);
			if (p->operation.epilogue == CUBLASLT_EPILOGUE_BIAS)
				x += stored<T>(p->operation.bias, type, m + i);
			if (type == CUDA_R_16BF)
				((uint16_t *)call->d)[at] = bf16_narrow((float)x);
			else
				((T *)call->d)[at] = x;
		}
}

template <class T>
void
multiply(const struct call *call)
{
	const struct product *p = call->p;
	bool transposed_a = p->operation.left == CUBLAS_OP_T;
	bool transposed_b = p->operation.right == CUBLAS_OP_T;
	bool rounded = p->operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
	size_t k = p->k, stride = (p->n + WIDE - 1) / WIDE * WIDE;
	std::vector<T> a(k * HIGH), b(k * stride);

	for (size_t n = 0; n < p->n; n += WIDE)
		gather(b.data() + n * k, WIDE, call->b, p->b.type,
		    transposed_b ? 1 : p->b.ld, transposed_b ? p->b.ld : 1, n,
		    p->n - n < WIDE ? p->n - n : WIDE, 0, k, rounded);
	for (size_t m = 0; m < p->m; m += HIGH) {
		size_t high = p->m - m < HIGH ? p->m - m : HIGH;
		gather(a.data(), HIGH, call->a, p->a.type, transposed_a ? p->a.ld : 1,
		    transposed_a ? 1 : p->a.ld, m, high, 0, k, rounded);
		for (size_t n = 0; n < p->n; n += WIDE) {
			T all[WIDE][HIGH], some[WIDE][HIGH];
			block(all, a.data(), b.data() + n * k, k / call->pieces);
			for (size_t i = 1; i < call->pieces; i++) {
				size_t from = k * i / call->pieces,
				       to = k * (i + 1) / call->pieces;
				block(some, a.data() + from * HIGH,
				    b.data() + n * k + from * WIDE, to - from);
				for (size_t j = 0; j < WIDE; j++)
					for (size_t r = 0; r < HIGH; r++)
						all[j][r] += some[j][r];
			}
			put_block(
			    call, all, m, high, n, p->n - n < WIDE ? p->n - n : WIDE);
		}
	}
}
} // namespace

const char *
cublasLtGetStatusString(cublasStatus_t status)
{
	switch (status) {
	case CUBLAS_STATUS_SUCCESS: return "success";
	case CUBLAS_STATUS_INVALID_VALUE: return "invalid value";
	case CUBLAS_STATUS_NOT_SUPPORTED: return "not supported";
	default: return "failed";
	}
}

cublasStatus_t
cublasLtCreate(cublasLtHandle_t *handle)
{
	static char some;

	*handle = (cublasLtHandle_t)(void *)&some;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t to, cudaDataType type, uint64_t rows,
    uint64_t columns, int64_t ld)
{
	struct layout made = { (uint64_t)type, rows, columns, (uint64_t)ld };

	put_inside(to, made);
	return ld < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulDescInit(
    cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType_t scale)
{
	struct operation made = { (uint64_t)compute, (uint64_t)scale, CUBLAS_OP_N,
		CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr };

	put_inside(desc, made);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
    cublasLtMatmulDescAttributes_t which, const void *value, size_t size)
{
	struct operation o = inside<struct operation>(desc);
	bool pointer = which == CUBLASLT_MATMUL_DESC_BIAS_POINTER;
	uint32_t number = 0;

	if (!value || size != (pointer ? sizeof o.bias : sizeof number))
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(pointer ? (void *)&o.bias : &number, value, size);
	switch (which) {
	case CUBLASLT_MATMUL_DESC_TRANSA: o.left = number; break;
	case CUBLASLT_MATMUL_DESC_TRANSB: o.right = number; break;
	case CUBLASLT_MATMUL_DESC_EPILOGUE: o.epilogue = number; break;
	default: break;
	}
	if (o.left > CUBLAS_OP_T || o.right > CUBLAS_OP_T ||
	    (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
		o.epilogue != CUBLASLT_EPILOGUE_BIAS))
		return CUBLAS_STATUS_INVALID_VALUE;
	put_inside(desc, o);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t to)
{
	struct preference made = { 0, CUBLASLT_REDUCTION_SCHEME_MASK,
		{ 256, 256, 256, 256 } };

	put_inside(to, made);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t which, const void *value, size_t size)
{
	struct preference p = inside<struct preference>(preference);
	bool workspace = which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
	uint32_t number = 0;

	if (!value || size != (workspace ? sizeof p.workspace : sizeof number))
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(workspace ? (void *)&p.workspace : &number, value, size);
	if (which == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
		p.schemes = number;
	else if (!workspace) {
		if (!number || (number & (number - 1)))
			return CUBLAS_STATUS_INVALID_VALUE;
		p.aligned[which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES] = number;
	}
	put_inside(preference, p);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
    cublasLtMatrixLayout_t A, cublasLtMatrixLayout_t B, cublasLtMatrixLayout_t C,
    cublasLtMatrixLayout_t D, cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t *results, int *found)
{
	struct preference of = inside<struct preference>(preference);
	struct algorithm a = {};
	struct product p;
	cublasStatus_t status = take(&p, desc, A, B, C, D);

	*found = 0;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (wanted < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	if (!of.schemes && lacks("one-piece"))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	for (int i = 0; i < 4; i++) {
		uint64_t least = i < 2 ? size_of(p.a.type) : size_of(p.d.type);
		a.aligned[i] = of.aligned[i];
		/* the i8 loop reads four bytes at once */
		if (of.aligned[i] < (p.a.type == CUDA_R_8I ? 4 : least))
			return CUBLAS_STATUS_NOT_SUPPORTED;
	}
	a.known = known(&p);
	a.pieces = of.schemes && p.a.type != CUDA_R_8I && p.m * p.n < 1 << 14 && p.k > 32
		       ? 2
		       : 1;
	a.sizes = sizes(&p);
	a.bias_aligned = (uint32_t)alignment(p.operation.bias);
	for (int i = 0; i < wanted && i < 3; i++) {
		struct algorithm one = a;
		one.number = (uint32_t)i;
		one.pieces += i == 1 && of.schemes && p.k > 32;
		if (workspace_of(&p, one.pieces) > of.workspace)
			one.pieces = 1;
		results[i] = {};
		put_inside(&results[i].algo, one);
		results[i].workspaceSize = workspace_of(&p, one.pieces);
		results[i].state = CUBLAS_STATUS_SUCCESS;
		*found = i + 1;
	}
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
    cublasLtMatmulAlgoConfigAttributes_t which, void *value, size_t size, size_t *written)
{
	struct algorithm a = inside<struct algorithm>(algorithm);
	int32_t is = which == CUBLASLT_ALGO_CONFIG_ID		? (int32_t)a.number
		     : which == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? (int32_t)a.pieces
								: 0;

	if (size != sizeof is)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(value, &is, sizeof is);
	if (written)
		*written = sizeof is;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
    const void *A, cublasLtMatrixLayout_t A_layout, const void *B,
    cublasLtMatrixLayout_t B_layout, const void *beta, const void *C,
    cublasLtMatrixLayout_t C_layout, void *D, cublasLtMatrixLayout_t D_layout,
    const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspace_size,
    cudaStream_t stream)
{
	struct product p;
	cublasStatus_t status = take(&p, desc, A_layout, B_layout, C_layout, D_layout);

	(void)stream;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (status != CUBLAS_STATUS_SUCCESS)
		return status;
	struct algorithm a = inside<struct algorithm>(algorithm);
	size_t needed = workspace_of(&p, a.pieces);
	if (a.known != known(&p) || (lacks("other-sizes") && a.sizes != sizes(&p)) ||
	    !A || !B || !D || !alpha || !beta || workspace_size < needed ||
	    (needed && !workspace) || !aligned(A, p.a.ld, p.a.type, a.aligned[0]) ||
	    !aligned(B, p.b.ld, p.b.type, a.aligned[1]) ||
	    !aligned(C, p.c.ld, p.c.type, a.aligned[2]) ||
	    !aligned(D, p.d.ld, p.d.type, a.aligned[3]) ||
	    (p.operation.bias && (uintptr_t)p.operation.bias % a.bias_aligned))
		return CUBLAS_STATUS_INVALID_VALUE;
	struct call call = { &p, A, B, C, alpha, beta, D, a.pieces };
	if (p.a.type == CUDA_R_8I)
		multiply<int32_t>(&call);
	else
		multiply<float>(&call);
	return CUBLAS_STATUS_SUCCESS;
}
