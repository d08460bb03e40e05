/*
 * nn - the kernels: all arithmetic of models, forward and backward.
 *
 * lib/nn/cpu (vector code, OpenMP) and lib/nn/cuda define these names; the linker chooses one.  tests/nn.bats compares each kernel
 * with plain loops in double (tests/support/nn_check*.c), and each backward with central differences.
 *
 * Letters	T tokens of a varlen batch (its sequences one after another, no padding), N sequences, C channels, I inner
 *		channels, O outputs, H heads, K key/value heads, D channels of a head, E experts, R rows, V columns of a row.
 * Arrays	float32, row-major, contiguous unless a stride is given (ldx: elements from row to row), in memory of the
 *		backend: from nn_alloc, nn_weights, nn_matrix_of or nn_bytes_of.  Memory named `host` is the host's.
 * Arguments	results, inputs, parameters, sizes.
 * Aliasing	a result shares no memory with an input, unless the comment says that it may be that input.
 * Forward	overwrites its result.
 * Backward	ADDS to gradients of parameters (dw, db), OVERWRITES gradients of activations (dx).  Any gradient may be NULL.
 * Errors	only functions that allocate can fail: they die.  Kernels check nothing: ids, rows and sizes must be in range.
 *		NaN and infinity pass through.
 *
 * Results have the same bits whatever the number of threads, and a row's result does not depend on the other rows: the
 * embedding of a text does not depend on its batch.  GEMM is our own on the CPU because a BLAS does not give that: OpenBLAS
 * 0.3.21 rounds a row differently for different numbers of rows.  Here the length of a sum alone decides its order.
 */
#ifndef NN_NN_H
#define NN_NN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/tensor.h"

/* D, at most, of attention and rotary positions; on a device NN_MAX_DEVICE_HEAD. */
enum { NN_MAX_HEAD = 512, NN_MAX_DEVICE_HEAD = 256 };

/* Start, threads. --------------------------------------------------------------- */

/*
 * Call first in a program that computes, before it reads input.  threads: 0 for OMP_NUM_THREADS, or all cores that the process may use
 * (host/cpu_limit.h).
 * Restarts the program once, with settings that libraries read when they are loaded: OMP_WAIT_POLICY, so that waiting threads
 * leave the processor to others; and OPENBLAS_CORETYPE in programs that link OpenBLAS (search, clustering), whose release 0.3.21
 * takes newer processors for old ones.  Variables that are set do not change.
 * Dies if the program was built for a processor that can do more than this one.
 */
void nn_start(int threads, char **argv);

/* One line for --version: backend, vector width, threads, OpenBLAS's kernels.  Borrowed. */
const char *nn_about(void);

/*
 * Calls job(context, worker, i) once for each i < count, from nn_workers() threads numbered from 0.  A kernel that a job calls runs
 * on the job's own thread (CUDA: in its own stream); with count 1 it uses all threads.
 */
void nn_parallel_for(
    size_t count, void (*job)(void *context, size_t worker, size_t i), void *context);
size_t nn_workers(void);

/* Sets nn_workers, and so the threads of kernels outside of jobs, for the calling thread; returns the number before.  CUDA: nothing
 * changes. */
size_t nn_use_threads(size_t threads);

/* Tokens of a batch with which a worker is quickest, if its GEMM is of i8, bf16 or f32. */
size_t nn_worker_tokens(enum dtype kind);

/* Rows of a temporary result that still fit the cache (CPU), or fill the device, between the kernel that writes it and the
 * kernel that reads it. */
size_t nn_chunk_rows(void);

/*
 * True if a device computes.  Then kernels are queued and the caller goes on: begin a download (nn_download_begin), queue the
 * next work, end the download.  Weights that may never be used are best uploaded when they are first used.
 */
bool nn_device(void);

/* Default for the memory of activations, in bytes. */
size_t nn_activation_bytes(void);

/* Memory. ----------------------------------------------------------------------- */

/* 64-byte aligned, zeroed.  Dies if there is not enough.  Free with the same number of bytes; memory may be NULL. */
void *nn_alloc(size_t bytes);
void nn_free(void *memory, size_t bytes);

/* Room for count elements.  memory, of *size bytes or NULL, is returned if it is large enough; else it is freed and a
 * somewhat larger block is allocated, its content undefined, and *size is set. */
void *nn_reserve(void *memory, size_t *size, size_t count, size_t element);

/*
 * Copies between the host and the backend.  The host's memory may be reused on return.  nn_download waits for all kernels that were
 * queued before; so do the other functions that return a value to the host: nn_square_sum, nn_finite, nn_column_absmax.
 */
void nn_upload(void *to, const void *host, size_t bytes);
void nn_download(void *host, const void *from, size_t bytes);

/* A download that runs beside kernels queued after it: `host` holds the data when nn_download_end returns.  Each begin needs
 * one end, from any thread. */
struct nn_transfer;
struct nn_transfer *nn_download_begin(void *host, const void *from, size_t bytes);
void nn_download_end(struct nn_transfer *transfer);

/* Weights. ---------------------------------------------------------------------- */

/*
 * A matrix of weights, row-major as in the checkpoint: f32, f16, bf16 or i8.  Kernels compute in float32 whatever the storage.
 * at NULL: no such matrix.
 *
 * i8 (`--weights int8`, nn_quantize): a row is C values, then, unaligned, one float32 scale for each NN_QUANT_GROUP values,
 * fewer in the last group:
 *	w[o,c] = value[o,c] scale[o, c / NN_QUANT_GROUP], rounded to float32
 * A GEMM with it has the bits of one with that w.
 */
struct nn_matrix {
	const void *at;
	enum dtype dtype;
	bool packed; /* by nn_pack: only for nn_linear* without gradients */
	/* of floats, on a device of f32 alone: nn_linear* round both sides to bf16 as they read them, forward and backward, where
	 * that is quicker (nn_supports); sums are float32 */
	bool bf16;
};
enum { NN_QUANT_GROUP = 128 };

static inline struct nn_matrix
nn_f32(const float *at)
{
	struct nn_matrix matrix = { at, DTYPE_F32, false, false };

	return matrix;
}

/* Bytes of a row of C columns. */
static inline size_t
nn_row_size(enum dtype dtype, size_t C)
{
	return C * dtype_size(dtype) +
	       (dtype == DTYPE_I8
		       ? (C + NN_QUANT_GROUP - 1) / NN_QUANT_GROUP * sizeof(float)
		       : 0);
}

/* The rows from `row` on of a matrix of C columns that is not packed. */
static inline struct nn_matrix
nn_matrix_from(struct nn_matrix matrix, size_t row, size_t C)
{
	matrix.at = (const char *)matrix.at + row * nn_row_size(matrix.dtype, C);
	matrix.packed = false;
	return matrix;
}

/*
 * Weights for inference: n elements in host memory, f32, f16, bf16 or i8.  The CPU backend returns `host` itself if it is aligned
 * to its elements.  Else *copied is set and the caller frees a copy from nn_alloc, as f32 if `host` is not aligned.
 */
struct nn_matrix nn_matrix_of(const void *host, enum dtype dtype, size_t n, bool *copied);

/* The same as f32: for norms and biases. */
const float *nn_weights(const void *host, enum dtype dtype, size_t n, bool *copied);

/* The same of bytes in the backend's own layout, e.g. from a file that holds what nn_quantize or nn_pack made. */
const void *nn_bytes_of(const void *host, size_t bytes, size_t alignment, bool *copied);

/*
 * Makes i8 of a matrix [O,C] of f32, f16 or bf16; both are in host memory.  A group's scale is its absmax / 127, its values round
 * to nearest: |w - value scale| <= scale / 2.  Returns false if a weight is not finite.
 */
bool nn_quantize(void *to, const void *host, enum dtype dtype, size_t O, size_t C);

/*
 * Weights packed for the GEMM of nn_linear*, for inference.  The kinds:
 *
 * f32	panels as the f32 GEMM reads them, so that it does not pack them each time; the bits are those of the matrix unpacked.
 * bf16	weights and x are rounded to bf16, sums are float32.  A result's bits depend on the processor, not on other rows.
 * i8	(`--precision int8`) weights are signed with one scale a row, x is unsigned with a scale and a zero point for each of
 *	its rows, sums are int32, exact on every processor:
 *		w[o,c] = value[o,c] scale[o] smooth[c]			-127 <= value <= 127
 *		x[t,c] smooth[c] = (value[t,c] - zero[t]) scale[t]	0 <= value <= 255
 *	smooth[c] = sqrt(absmax |w[:,c]| / absmax[c]), with absmax[c] that of column c of x, shares the error between weights
 *	and x (SmoothQuant, Xiao et al. 2023, equation 4); it is 1 if either is 0, or if absmax is NULL.
 *
 * The two int8 formats, this and nn_quantize's, cannot share values or files without changing results: an integer sum
 * needs one scale for the whole row and the smoothing of calibrated columns, where nn_quantize has a scale for each 128 weights,
 * which depends on no calibration; and panels interleave rows, which an embedding table cannot use.
 *
 * nn_pack reads a matrix [O,C], or [C,O] if transposed, of f32, f16 or bf16 from host memory and writes nn_packed_size bytes
 * from nn_alloc to `to`; absmax[C] is in host memory.  C is at most NN_MAX_PACKED, unless kind is f32.  Returns false if a weight
 * is not finite (f32: never).
 */
enum { NN_MAX_PACKED = 1 << 15, NN_PACKED_ALIGNMENT = 64 };
size_t nn_packed_size(enum dtype kind, size_t O, size_t C);
bool nn_pack(void *to, enum dtype kind, const void *host, enum dtype dtype,
    bool transposed, const float *absmax, size_t O, size_t C);

/* Names the layout of packed memory.  Packed bytes from a file may be used, aligned to NN_PACKED_ALIGNMENT, if it was written under
 * the same name. */
const char *nn_packed_layout(void);

/* True if nn_pack and nn_matrix.bf16 are worth it here: always for f32 and i8, for bf16 where it is quicker than f32. */
bool nn_supports(enum dtype kind);

/* True if nn_pack's GEMMs of this kind are slower than those of f32 here: i8 without instructions for it. */
bool nn_is_slow(enum dtype kind);

/* absmax[c] = max(absmax[c], |x[:,c]|), absmax in host memory.  NaN is ignored. */
void nn_column_absmax(float *absmax, const float *x, size_t ldx, size_t T, size_t C);

/* Vectors and rows. ------------------------------------------------------------- */

void nn_copy(float *y, const float *x, size_t n); /* y = x */
void nn_zero(float *y, size_t n);
void nn_scale(float *x, float by, size_t n);
void nn_add(float *y, const float *x, size_t n); /* y += x */
/* y += by (x - y): where x equals y, y keeps its bits. */
void nn_lerp(float *y, const float *x, float by, size_t n);
double nn_square_sum(const float *x, size_t n); /* in double, in a fixed order */

/* True if every value is finite. */
bool nn_finite(const float *x, size_t n);

void nn_scale_rows(float *x, const float *by, size_t R, size_t C); /* x[r,c] *= by[r] */
void nn_add_row(float *y, const float *x, size_t R, size_t C);	   /* y[r,c] += x[c] */
/* y[r] = sum over c of a[r,c] b[r,c] */
void nn_dot_rows(float *y, const float *a, const float *b, size_t R, size_t C);
/* y[r,:] = x[rows[r],:];  y[rows[r],:] += x[r,:], in the order of r */
void nn_gather(float *y, const float *x, const int32_t *rows, size_t R, size_t C);
void nn_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C);

/*
 * Selects the values of x[R,V] that are not below least[R], NaN with them, as CSR: those of row r are in columns[starts[r] ..
 * starts[r+1]-1], ascending.  starts[R+1], columns[R V]; fewer than 2^31 are found.
 */
void nn_not_below(int32_t *starts, int32_t *columns, const float *x, const float *least,
    size_t R, size_t V);

/* Linear layers and GEMM. ------------------------------------------------------- */

/* NN_TANH_INT8: 127 tanh(x), rounded to an integer, half to even; the backward takes it for tanh(x) (straight-through). */
enum nn_act {
	NN_GELU,
	NN_GELU_TANH,
	NN_SILU,
	NN_SIGMOID,
	NN_TANH,
	NN_RELU,
	NN_TANH_INT8
};

/* y[T,O] = x[T,C] w[O,C]^T + b[O];  b may be NULL. */
void nn_linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, size_t T, size_t C, size_t O);

/* The same with an activation as epilogue, y = act(x w^T + b): quicker than nn_linear and nn_activate, but the pre-activation is
 * lost to the backward.  With w packed as i8 or bf16, GELU may be off by 8e-5, or 4e-6 |x|. */
void nn_linear_activate(float *y, size_t ldy, const float *x, size_t ldx,
    struct nn_matrix w, const float *b, enum nn_act act, size_t T, size_t C, size_t O);

/* y[T,O] += x[T,C] w[O,C]^T */
void nn_linear_add(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    size_t T, size_t C, size_t O);

/* Rows that share weights: the tokens of one expert.  In host memory. */
struct nn_gemm_group {
	struct nn_matrix w; /* [O,C] */
	const float *b;	    /* [O] or NULL */
	size_t rows;
};

/* Grouped GEMM: nn_linear, or nn_linear_activate if act is not NULL, of groups, one after another in y[.,O] and x[.,C]. */
void nn_linear_grouped(float *y, const float *x, const struct nn_gemm_group *groups,
    size_t count, const enum nn_act *act, size_t C, size_t O);

/* dx[T,C] = dy w (add: +=), dw[O,C] += dy^T x, db[O] += column sums of dy. */
void nn_linear_back(float *dx, bool add, float *dw, float *db, const float *dy,
    size_t ldy, const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C,
    size_t O);

/*
 * Dropout (Srivastava et al. 2014): y[r,c] = x[r,c] / (1 - rate), or 0 with probability rate, decided by a hash of keys[rows[r]]
 * (rows NULL: keys[r]), salt and c.  With the same keys it is its own backward.  y may be x.
 */
void nn_dropout(float *y, const float *x, size_t ldx, const uint64_t *keys,
    const int32_t *rows, uint64_t salt, double rate, size_t R, size_t C);

/* GEMM for losses and search.  nt: c[M,N] = alpha a[M,K] b[N,K]^T + beta c;  beta 0: c is not read */
void nn_product_nt(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta);
/* nn: c[M,N] = alpha a[M,K] b[K,N] + beta c */
void nn_product_nn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta);
/* tn: c[M,N] = alpha a[K,M]^T b[K,N] + beta c */
void nn_product_tn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta);

/* Bound on the rounding error of an element of nn_product_nt with alpha 1 and beta 0, relative to the lengths of its two rows
 * multiplied.  Terms below the least normal float may be lost beyond it. */
double nn_product_error(size_t K);

/* Activations. ------------------------------------------------------------------ */

/* y = act(x), elementwise; NN_GELU is the erf form ("gelu" in a config.json).  y may be x. */
void nn_activate(float *y, const float *x, enum nn_act act, size_t n);
/* dx = dy act'(x); dx may be dy. */
void nn_activate_back(
    float *dx, const float *dy, const float *x, enum nn_act act, size_t n);

/* Gated linear unit: y[T,I] = up act(gate); ld: row stride of up and gate. */
void nn_glu(float *y, const float *up, const float *gate, size_t ld, enum nn_act act,
    size_t T, size_t I);
/* dup and dgate have row stride ld and may be up and gate. */
void nn_glu_back(float *dup, float *dgate, const float *dy, const float *up,
    const float *gate, size_t ld, enum nn_act act, size_t T, size_t I);

/* Norms. ------------------------------------------------------------------------ */

/* NN_RMSNORM_PLUS multiplies by 1 + w. */
enum nn_norm { NN_LAYERNORM, NN_RMSNORM, NN_RMSNORM_PLUS };

/*
 * s = x + r (r NULL: s = x);  y = norm(s) w + b;  w NULL: 1, b NULL: 0.
 * LayerNorm: (s - mean) / sqrt(var + eps), biased variance; RMSNorm: s / sqrt(mean s^2 + eps).
 * s may be NULL, x or r; y may be x or r.  stats[T,2], or NULL, receives mean and 1 / deviation for the backward.
 */
void nn_norm(float *y, float *s, float *stats, const float *x, const float *r,
    const float *w, const float *b, float eps, enum nn_norm kind, size_t T, size_t C);
/* ds[T,C] overwritten; it may be dy.  s and stats are the forward's. */
void nn_norm_back(float *ds, float *dw, float *db, const float *dy, const float *s,
    const float *stats, const float *w, enum nn_norm kind, size_t T, size_t C);

/*
 * The norm of each head's D columns, for q and k before the rotation; w[D] and b[D] serve all heads; b may be NULL.  A norm over all
 * heads together is heads 1, D the columns.  stats[T,heads,2] as nn_norm's.  y may be x.
 */
void nn_norm_heads(float *y, size_t ldy, float *stats, const float *x, size_t ldx,
    const float *w, const float *b, float eps, enum nn_norm kind, size_t T, size_t heads,
    size_t D);
/* dx and dy have row stride ldy; dx may be dy.  x is the forward's input. */
void nn_norm_heads_back(float *dx, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, const float *stats, const float *w, enum nn_norm kind,
    size_t T, size_t heads, size_t D);

/* y = x / max(|x|, 1e-12) by row; y may be x.  lengths[N], or NULL, receives the divisors. */
void nn_normalize(float *y, float *lengths, const float *x, size_t N, size_t C);
/* dx = (dy - y (y . dy)) / length; dx may be dy. */
void nn_normalize_back(
    float *dx, const float *dy, const float *y, const float *lengths, size_t N, size_t C);

/* Varlen batches: embeddings, positions, attention, pooling. --------------------- */

/* The sequences of a batch: sequence i is tokens starts[i] .. starts[i+1]-1.  The arrays are in memory of the backend. */
struct nn_sequences {
	const int32_t *starts; /* [N + 1] */
	size_t N, T;	       /* T = starts[N] */
	size_t longest;	       /* tokens of the longest sequence */
	/* [T] the row of each token in the table of positions; NULL: counted from the start of its sequence */
	const int32_t *positions;
	const int32_t
	    *types; /* [T] the row of each token in the table of types; NULL: row 0 */
	/* [N] attention sees so many keys of each sequence, its first ones; NULL: all.  Forward only. */
	const int32_t *attended;
};

/* x[T,C] = tokens[ids[t]] + types[sequences->types[t]] + positions[sequences->positions[t]]; types.at and positions.at may be NULL.  tokens
 * may be i8, here of integers without scales. */
void nn_embed(float *x, const int32_t *ids, const struct nn_sequences *sequences,
    struct nn_matrix tokens, struct nn_matrix types, struct nn_matrix positions,
    size_t C);
/* Adds rows to the three gradients in the order of the tokens. */
void nn_embed_back(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const struct nn_sequences *sequences, size_t C);

/*
 * Rotary positions (RoPE), half-split as in GPT-NeoX, in place on x[T, heads x D] with row stride ld: pair (i, i + D/2) turns by
 * position x inv[i], i < D/2; the position counts from the start of the sequence.  direction is 1, or -1 for the backward.
 * inv[D/2]: inverse frequencies; sequence n uses inv + n step.
 */
void nn_rotary(float *x, size_t ld, const float *inv, size_t step,
    const struct nn_sequences *sequences, size_t heads, size_t D, int direction);

/* Dropout of attention weights, after the softmax: weight [query, key] of head h is column `key` of nn_dropout's row with the query's
 * key and the salt `salt` + h.  On processors only. */
struct nn_attention_dropout {
	const uint64_t *keys; /* [T]; NULL: none */
	uint64_t salt;
	double rate;
};

/* Disentangled attention (DeBERTa): a score is scale (q_i k_j + q_i k'_r + k_j q'_r), content to content, content to position
 * and position to content, with r = rows[longest + i - j].  rows ascend; q' and k' are [R, H D]. */
struct nn_relative {
	const float *q, *k;
	const int32_t *rows; /* [2 longest] */
};

/*
 * Varlen attention, within each sequence: out[T, H D] = softmax(scale q k^T + bias + mask) v.
 * q[T, H D] has row stride ldq; k and v[T, K D] have row stride ldkv; head h reads key/value head h / (H / K).
 * causal: no key after the query.  window > 0: |i - j| <= window.  A query that sees no key gets zeros.
 * bias[H, 2 longest], or NULL: bias[h, longest + i - j] is added to the score of query i and key j (relative positions, ALiBi).
 * lse[T,H], or NULL, receives the log-sum-exp of each row of scores for the backward.
 * Scores exist as one tile for each thread (CPU) or block (CUDA), never as a whole matrix.
 */
struct nn_attention {
	struct nn_sequences sequences;
	size_t H, K, D, ldq, ldkv;
	bool causal;
	size_t window;
	float scale;	   /* 0: 1 / sqrt(D) */
	const float *bias; /* NULL: none */
	/* a score s becomes softcap tanh(s / softcap) before bias and mask; 0: not.  Forward only, on processors only. */
	float softcap;
	/* [N] the one query of each sequence that is wanted, counted from its first token: other rows of out are computed or
	 * left; NULL: all.  Forward only. */
	const int32_t *queries;
	/* NULL: none.  Forward only, without lse, causal, window, bias and dropout; on processors only. */
	const struct nn_relative *relative;
	/* both sides of a GEMM may be rounded to bf16, forward and backward, where that is quicker; sums are float32 */
	bool bf16;
	/* both sides of a GEMM may be rounded to int8, whose sums are exact: forward, without lse and dropout; on processors only */
	bool i8;
	struct nn_attention_dropout dropout;
};
void nn_attention(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a);
/* dq, dk, dv have the strides of q, k, v.  dbias[2 T H] is added to: a sequence of `length` tokens from `start` on has
 * [H, 2 length] of it, indexed as bias, from 2 start H on. */
void nn_attention_back(float *dq, float *dk, float *dv, float *dbias, const float *dout,
    const float *out, const float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a);

/* The bias of a learned table of relative positions: bias[h,x] = table[buckets[x], h], x < 2 longest. */
void nn_position_bias(float *bias, struct nn_matrix table, const int32_t *buckets,
    size_t longest, size_t H);
/* Adds the dbias of nn_attention_back to dtable[.,H]. */
void nn_position_bias_back(float *dtable, const float *dbias, const int32_t *buckets,
    const struct nn_sequences *sequences, size_t H);

enum nn_pool {
	NN_POOL_CLS,
	NN_POOL_MEAN,
	NN_POOL_MAX,
	NN_POOL_MEAN_SQRT,
	NN_POOL_WEIGHTED,
	NN_POOL_LAST
};

/*
 * y[N,C] (row stride ldy) from x[T,C].  The first skip[i] tokens of sequence i are left out (include_prompt = false: the
 * prompt and the special tokens before it); skip may be NULL.  CLS is the first token after them; WEIGHTED counts 1, 2, ... from
 * token 0 nevertheless.  If all tokens are left out, CLS is token 0, LAST the last token, and the others are zeros.
 */
void nn_pool(float *y, size_t ldy, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, enum nn_pool kind, size_t C);
/* dx[T,C] overwritten, with zeros for tokens that have no part in y. */
void nn_pool_back(float *dx, const float *dy, size_t ldy, const float *x,
    const struct nn_sequences *sequences, const int32_t *skip, enum nn_pool kind,
    size_t C);

/* Softmax, loss, routing. -------------------------------------------------------- */

/* y = softmax of each row of x[R,V]; y may be x. */
void nn_softmax(float *y, const float *x, size_t R, size_t V);
/* dx = y (dy - sum of dy y); dx may be dy. */
void nn_softmax_back(float *dx, const float *dy, const float *y, size_t R, size_t V);

/*
 * Softmax cross-entropy, in place: logits[R,V] become scale (softmax - onehot(target)), the gradient of scale times the
 * sum of the rows' losses.  Entries with mask[R,V] 0 are left out; mask may be NULL.  Adds to `sum`, in memory of the
 * backend, the loss of all rows, in double, and the number of rows whose target has the greatest logit.  If k logits share the
 * maximum, the row counts 1 / k, the chance that a draw among them picks the target.
 */
struct nn_loss {
	double loss;
	double correct;
};
void nn_cross_entropy(float *logits, struct nn_loss *sum, const int32_t *targets,
    const uint8_t *mask, float scale, size_t R, size_t V);

/*
 * Top-k routing to experts: chosen[T,top] are the columns of the `top` greatest values of each row of p[T,E], ascending; of equal
 * values those of the lower columns.  weights[T,top] are those values, divided by their sum if renormalize.
 */
void nn_route(int32_t *chosen, float *weights, const float *p, bool renormalize, size_t T,
    size_t E, size_t top);
/* dp[T,E] overwritten, 0 for experts that were not chosen. */
void nn_route_back(float *dp, const float *dweights, const int32_t *chosen,
    const float *p, bool renormalize, size_t T, size_t E, size_t top);

/* Sorts the T top entries of chosen[T,top] by expert, stably: those of expert e are slots[offsets[e] .. offsets[e+1]-1], and
 * rows[i] = slots[i] / top is the token of each.  offsets[E+1], slots[T top], rows[T top]. */
void nn_sort_by_expert(int32_t *rows, int32_t *slots, int32_t *offsets,
    const int32_t *chosen, size_t T, size_t E, size_t top);

/* Optimiser. -------------------------------------------------------------------- */

/* A slice of the flat arrays of all parameters that is updated with one decay and step.  Tables of slices are in memory of
 * the backend; `most` is the count of the largest slice. */
struct nn_slice {
	size_t offset, count;
	double decay;
	int64_t step;	/* from 1; 0: the slice is not updated */
	size_t moments; /* offset in m and v, of which each rank (ranks.h) holds a part */
};

/* sums[i] = sum of squares of slice i of x, as nn_square_sum. */
void nn_square_sums(double *sums, const float *x, const struct nn_slice *slices,
    size_t count, size_t most);

/*
 * AdamW, decoupled decay (Loshchilov and Hutter 2019, algorithm 2; torch.optim.AdamW), of each slice, with g = gradient scale:
 * w -= lr decay w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;
 * w -= lr (m / (1 - b1^step)) / (sqrt(v / (1 - b2^step)) + eps).
 * Sets the gradients of all slices to zero, of slices that are not updated as well.
 */
struct nn_adamw {
	double lr, beta1, beta2, eps, scale;
};
void nn_adamw(float *w, float *m, float *v, float *gradient, const struct nn_adamw *a,
    const struct nn_slice *slices, size_t count, size_t most);

#endif
