/*
 * nn - the arithmetic of the models: forward and backward of each layer.
 *
 * Letters:  T tokens (packed: the sequences of a batch one after another), N sequences,
 *           C channels, I inner channels, O outputs, H heads, K key/value heads, D = head size.
 * All arrays are float32, row-major, contiguous, in memory from nn_alloc (or nn_weights).
 * Order of arguments: results, inputs, parameters, sizes.
 * A forward overwrites its result.  A backward ADDS to parameter gradients (dw, db) and
 * OVERWRITES activation gradients (dx) unless it says otherwise.  Any gradient may be NULL.
 * No function allocates, fails, prints or keeps state, except where it says so.
 *
 * Same input: the same bits, whatever the number of threads.  Every row's result is computed
 * independently of the other rows: an embedding does not depend on its batch.
 *
 * Products are our own because a BLAS does not give that: OpenBLAS 0.3.21 rounds a row differently for
 * different numbers of rows.  Here an element is summed in an order that its row length alone decides.
 *
 * The files of cpu/ (vector code and OpenMP) define these names; a CUDA backend defines the
 * same ones, and the linker chooses.  tests/nn.bats holds them to the plain loops in
 * tests/support/nn_check*.c and every backward to central differences.
 */
#ifndef NN_NN_H
#define NN_NN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/tensor.h"

/* The largest head of attention and rotary positions. */
enum { NN_MAX_HEAD = 256 };

/*
 * Before anything else in a program that computes: the number of threads (0: all cores, or
 * OMP_NUM_THREADS) and the settings that libraries read when they are loaded, for which the
 * program restarts itself once; call it before any input is read.  These are
 * OMP_WAIT_POLICY, so that waiting threads leave the processor to others, and, in programs
 * that hold OpenBLAS (search, clustering), OPENBLAS_CORETYPE: release 0.3.21 takes newer
 * processors for old ones.  A variable that is already set stays.
 * Dies when the program was built for a processor that can do more than this one.
 */
void nn_start(int threads, char **argv);

/* One line: backend, vector width, threads, OpenBLAS's kernels; for --version.  Borrowed. */
const char *nn_about(void);

/*
 * Work beside each other: job(context, worker, i) for each i below count, by nn_workers() workers, numbered from 0, that
 * take one i after another.  What a job calls here it then computes by itself; of a single i all threads take part.
 * A worker does best with nn_worker_tokens() tokens at once, whose products are of i8, bf16 or f32; and where what is made
 * of some rows is read at once and then forgotten, with nn_step_rows() of them.
 */
size_t nn_workers(void);
size_t nn_worker_tokens(enum dtype kind);
size_t nn_step_rows(void);
void nn_each(
    size_t count, void (*job)(void *context, size_t worker, size_t i), void *context);

/*
 * Whether a device computes, with memory and time of its own: what is asked for stands in a queue, and the host goes on.
 * Then who hands results over begins a download and ends it when there is something else in the queue; parts are as
 * large as a worker likes them; and what may never be used (the experts of other tasks) is not brought over before it is.
 */
bool nn_device(void);

/* Bytes that activations may take where nobody says how many. */
size_t nn_activation_bytes(void);

/* Memory and weights. ----------------------------------------------------------- */

/* Memory of the backend.  nn_alloc dies when there is none; 64-byte aligned, zeroed. */
void *nn_alloc(size_t bytes);
void nn_free(void *memory, size_t bytes);

/* Room for count elements in `memory`, which is of *size bytes, or NULL: itself where it holds
 * them, else a block somewhat larger than asked for, without what the old one held. */
void *nn_reserve(void *memory, size_t *size, size_t count, size_t element);

/* The one way between the host's memory and the backend's, which the host does not touch; on return the host's may be used
 * again.  nn_download and the few others that hand something over to the host (nn_square_sum, nn_finite,
 * nn_column_most) have to wait for all that was asked for before. */
void nn_upload(void *to, const void *host, size_t bytes);
void nn_download(void *host, const void *from, size_t bytes);

/* A download in two halves: it begins when all is done that was asked for before, and `host` holds it when the second half
 * returns, which waits for no more than that.  Every one that begins is to be ended, by whichever thread. */
struct nn_transfer;
struct nn_transfer *nn_download_begin(void *host, const void *from, size_t bytes);
void nn_download_end(struct nn_transfer *transfer);

/*
 * A matrix of weights as the checkpoint stores it: f32, f16 or bf16, row-major, aligned to its
 * elements.  Arithmetic is in float32 whatever the storage.  `at` NULL: no such matrix.
 *
 * Linear layers also take weights in eight bits, i8: a row is its C values and behind them, not
 * aligned, a float32 for each NN_GROUP of them (the last group may be shorter):
 *	w[o,c] = value[o,c] scale[o, c / NN_GROUP], rounded to float32
 * and a product with it has the bits of one with that w.
 */
struct nn_matrix {
	const void *at;
	enum dtype dtype;
	bool
	    packed; /* by nn_pack: for nn_linear, nn_linear_activate and nn_linear_add alone */
	/* of f32: the products of linear layers with it, forward and back, are made of bf16 where that is quicker
	 * (nn_packs): both sides are rounded as they are read, sums are floats */
	bool rounded;
};
enum { NN_GROUP = 128 };

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
	       (dtype == DTYPE_I8 ? (C + NN_GROUP - 1) / NN_GROUP * sizeof(float) : 0);
}

/* A matrix of C columns from a row on. */
static inline struct nn_matrix
nn_matrix_from(struct nn_matrix matrix, size_t row, size_t C)
{
	matrix.at = (const char *)matrix.at + row * nn_row_size(matrix.dtype, C);
	matrix.packed = false;
	return matrix;
}

/*
 * A matrix [O,C] of any floating type in eight bits, both in host memory: a group's scale is the
 * greatest |w| / 127, its values are to nearest, so that |w - value scale| <= scale / 2.
 * False when a weight is not finite.
 */
bool nn_quantize(void *to, const void *host, enum dtype dtype, size_t O, size_t C);

/* Weights for inference.  The matrix is `host` itself where the kernels can use it in place
 * (f32, f16 or bf16, aligned, or i8, CPU), else a copy from nn_alloc, n elements of the matrix's type,
 * and then sets *copied. */
struct nn_matrix nn_matrix_of(const void *host, enum dtype dtype, size_t n, bool *copied);

/* The same of bytes as they are: what nn_quantize made, or nn_pack in memory that was kept since, or floats that only products
 * read: `host` itself where it is aligned to so many bytes (CPU). */
const void *nn_kept(const void *host, size_t bytes, size_t alignment, bool *copied);

/*
 * Products in fewer bits, for inference.  i8: the weights are bytes with a scale for each output, x is made bytes with a
 * scale and a zero for each row, and the sums are whole numbers:
 *	w[o,c] = value[o,c] scale[o] smooth[c]			-127 <= value <= 127
 *	x[t,c] smooth[c] = (value[t,c] - zero[t]) scale[t]	0 <= value <= 255
 * so that a row's result has the same bits beside whatever rows, with whatever instructions.  smooth[c] =
 * sqrt(greatest |w[:,c]| / most[c]), where `most` says how far each column of x reaches, shares the error
 * between both (SmoothQuant, Xiao et al. 2023, equation 4); it is 1 where either is 0, or most NULL.
 * bf16: both are rounded to bf16, sums are floats; the same bits beside whatever rows, on one processor.
 * f32: the floats in the order that products want, for matrices that many are made with; the bits are those without.
 *
 * nn_pack makes of a matrix [O,C] of any floating type (turned: [C,O]) in host memory what products of a kind take, in
 * `to`, nn_packed_size bytes from nn_alloc.  False when a weight is not finite; of f32 those stay what they are.
 */
enum { NN_MAX_PACKED = 1 << 15 }; /* C, at most, but of f32 */
size_t nn_packed_size(enum dtype kind, size_t O, size_t C);
bool nn_pack(void *to, enum dtype kind, const void *host, enum dtype dtype, bool turned,
    const float *most, size_t O, size_t C);

/* How values lie there, a name for who keeps them: to be used again where it is the same, aligned to NN_PACKED_ALIGNMENT. */
const char *nn_packed_layout(void);
enum { NN_PACKED_ALIGNMENT = 64 };

/* Whether there are such products here; always of i8 and f32, of bf16 where they are quicker than those of floats. */
bool nn_packs(enum dtype kind);

/* most[c] = max(most[c], |x[:,c]|), most in host memory; NaN counts for nothing. */
void nn_column_most(float *most, const float *x, size_t ldx, size_t T, size_t C);

/* The same as floats: what norms and biases need. */
const float *nn_weights(const void *host, enum dtype dtype, size_t n, bool *copied);

/* Vectors and rows. ------------------------------------------------------------- */

void nn_copy(float *y, const float *x, size_t n); /* y = x */
void nn_zero(float *y, size_t n);
void nn_scale(float *x, float by, size_t n);
void nn_add(float *y, const float *x, size_t n); /* y += x */
double nn_square_sum(const float *x, size_t n);	 /* double accumulation, fixed order */

/* True when every value is finite. */
bool nn_finite(const float *x, size_t n);

void nn_scale_rows(float *x, const float *by, size_t R, size_t C); /* x[r,c] *= by[r] */
void nn_add_row(float *y, const float *x, size_t R, size_t C);	   /* y[r,c] += x[c] */
/* y[r] = sum over c of a[r,c] b[r,c] */
void nn_dot_rows(float *y, const float *a, const float *b, size_t R, size_t C);
/* y[r,:] = x[rows[r],:];  y[rows[r],:] += x[r,:], in the order of r */
void nn_gather(float *y, const float *x, const int32_t *rows, size_t R, size_t C);
void nn_scatter_add(float *y, const float *x, const int32_t *rows, size_t R, size_t C);

/* Linear layers and products. --------------------------------------------------- */

enum nn_act { NN_GELU, NN_GELU_TANH, NN_SILU, NN_SIGMOID, NN_TANH, NN_RELU };

/* y[T,O] = x[T,C] w[O,C]^T + b[O];  b may be NULL.  ldy, ldx: row strides of y and x
 * (O and C when contiguous). */
void nn_linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, size_t T, size_t C, size_t O);

/* The same with an activation at the end: y = act(x w^T + b).  For inference: quicker than
 * nn_linear and nn_activate, but the backward has no pre-activation; with w packed in i8 GELU may be off by 8e-5, or 4e-6 |x|. */
void nn_linear_activate(float *y, size_t ldy, const float *x, size_t ldx,
    struct nn_matrix w, const float *b, enum nn_act act, size_t T, size_t C, size_t O);

/* y[T,O] += x[T,C] w[O,C]^T */
void nn_linear_add(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    size_t T, size_t C, size_t O);

/* Rows that have weights of their own: token experts.  In host memory. */
struct nn_stretch {
	struct nn_matrix w; /* [O,C] */
	const float *b;	    /* [O]; NULL: none */
	size_t rows;
};

/* nn_linear of stretches one after another in y[.,O] and x[.,C]; act not NULL: nn_linear_activate of them. */
void nn_linear_stretches(float *y, const float *x, const struct nn_stretch *stretches,
    size_t count, const enum nn_act *act, size_t C, size_t O);

/* dx[T,C] = dy w (or += when add), dw[O,C] += dy^T x, db[O] += column sums of dy. */
void nn_linear_back(float *dx, bool add, float *dw, float *db, const float *dy,
    size_t ldy, const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C,
    size_t O);

/* y[r,c] = x[r,c] / (1 - rate), or 0 where a hash of keys[rows[r]] (rows NULL: of keys[r]), of
 * salt and of c says so, with probability `rate`: dropout (Srivastava et al. 2014); with the same
 * keys its own backward.  ldx: row stride of x; y may be x. */
void nn_dropout(float *y, const float *x, size_t ldx, const uint64_t *keys,
    const int32_t *rows, uint64_t salt, double rate, size_t R, size_t C);

/* General product for losses and search: c[M,N] = alpha a[M,K] b[N,K]^T + beta c */
void nn_product_nt(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta);
/* c[M,N] = alpha a[M,K] b[K,N] + beta c */
void nn_product_nn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta);
/* c[M,N] = alpha a[K,M]^T b[K,N] + beta c */
void nn_product_tn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta);

/* How far an element of nn_product_nt with alpha 1 and beta 0 may be from what it is of the floats exactly, divided by the lengths
 * of both rows of K; terms below the least normal float may be lost beside that. */
double nn_product_error(size_t K);

/* What rows of x[R,V] have that is not below least[R], NaN with it: row r the columns columns[starts[r]] .. of
 * columns[starts[r+1]-1], in ascending order; starts[R+1], room in columns for all R V, of which there are less than 2^31. */
void nn_not_below(int32_t *starts, int32_t *columns, const float *x, const float *least,
    size_t R, size_t V);

/* Activations and gates. -------------------------------------------------------- */

/* y = act(x), elementwise; GELU by erf (what "gelu" in a config means); y may be x. */
void nn_activate(float *y, const float *x, enum nn_act act, size_t n);
/* dx = dy act'(x); dx may be dy. */
void nn_activate_back(
    float *dx, const float *dy, const float *x, enum nn_act act, size_t n);

/* y[T,I] = up act(gate); up and gate have row stride ld. */
void nn_gate(float *y, const float *up, const float *gate, size_t ld, enum nn_act act,
    size_t T, size_t I);
/* dup, dgate with row stride ld; may be up and gate themselves. */
void nn_gate_back(float *dup, float *dgate, const float *dy, const float *up,
    const float *gate, size_t ld, enum nn_act act, size_t T, size_t I);

/* Norms. ------------------------------------------------------------------------ */

/* NN_RMSNORM_PLUS: RMSNorm that multiplies by 1 + w. */
enum nn_norm { NN_LAYERNORM, NN_RMSNORM, NN_RMSNORM_PLUS };

/* s = x + r (r NULL: s = x);  y = norm(s) w + b (b may be NULL; w NULL: 1).
 * LayerNorm: (s - mean) / sqrt(var + eps), biased variance; RMSNorm: s / sqrt(mean s^2 + eps).
 * s, when not NULL, receives the sum (may be x or r); stats, when not NULL, [T,2] receives
 * mean and reciprocal deviation for the backward.  y may be x or r. */
void nn_norm(float *y, float *s, float *stats, const float *x, const float *r,
    const float *w, const float *b, float eps, enum nn_norm kind, size_t T, size_t C);
/* ds[T,C] overwritten (may be dy); s and stats as the forward left them. */
void nn_norm_back(float *ds, float *dw, float *db, const float *dy, const float *s,
    const float *stats, const float *w, enum nn_norm kind, size_t T, size_t C);

/* RMSNorm, of either kind, of each of the `heads` stretches of D columns by itself, one weight w[D] for all:
 * q and k before the rotation.  All heads together are one stretch: heads 1, D the columns.
 * ldy, ldx: row strides.  stats, when not NULL, [T,heads,2] as nn_norm's.  y may be x. */
void nn_norm_heads(float *y, size_t ldy, float *stats, const float *x, size_t ldx,
    const float *w, float eps, enum nn_norm kind, size_t T, size_t heads, size_t D);
/* dx and dy have row stride ldy; dx may be dy.  x as it was before the norm. */
void nn_norm_heads_back(float *dx, float *dw, const float *dy, size_t ldy, const float *x,
    size_t ldx, const float *stats, const float *w, enum nn_norm kind, size_t T,
    size_t heads, size_t D);

/* y = x / max(|x|, 1e-12) per row; y may be x.  lengths[N], when not NULL, receives the divisor. */
void nn_normalize(float *y, float *lengths, const float *x, size_t N, size_t C);
/* dx = (dy - y (y . dy)) / length; dx may be dy. */
void nn_normalize_back(
    float *dx, const float *dy, const float *y, const float *lengths, size_t N, size_t C);

/* Tokens: embeddings, positions, attention, pooling. ---------------------------- */

/* The sequences of a batch: i is tokens starts[i] .. starts[i+1]-1.  Beside starts, which is in memory of the backend,
 * stands how much there is to do. */
struct nn_sequences {
	const int32_t *starts; /* [N + 1] */
	size_t N, T;	       /* T: starts[N] */
	size_t longest;	       /* tokens of the longest */
	/* [T] the row of each token's learned position; NULL: counted from the start of its sequence */
	const int32_t *places;
};

/* x[T,C] = tokens[ids[t]] + types[0] + positions[places[t]]; types and positions may be none.  tokens may be whole
 * numbers, i8, without scales.
 * ids are known to be in range. */
void nn_embed(float *x, const int32_t *ids, const struct nn_sequences *sequences,
    struct nn_matrix tokens, struct nn_matrix types, struct nn_matrix positions,
    size_t C);
/* Adds to the three gradients.  Deterministic: rows are added in token order. */
void nn_embed_back(float *dtokens, float *dtypes, float *dpositions, const float *dx,
    const int32_t *ids, const struct nn_sequences *sequences, size_t C);

/* Rotary positions, half-split ("NeoX"), in place on x[T, heads x D] with row stride ld:
 * angle = position x inv[i], i in 0..D/2-1; position counts from each sequence's start.
 * direction -1 is the backward.  inv[D/2]: inverse frequencies (the model knows which), those
 * of the next sequence `step` further on; step 0: the same for all. */
void nn_rotary(float *x, size_t ld, const float *inv, size_t step,
    const struct nn_sequences *sequences, size_t heads, size_t D, int direction);

/*
 * Attention within each sequence: out[T,H D] = softmax(scale q k^T + bias + mask) v.
 * q: [T, H D] with row stride ldq; k, v: [T, K D] with row stride ldkv; head h reads
 * key/value head h / (H / K).  causal: no look ahead.  window > 0: |i - j| <= window.
 * bias[H, 2 longest]: what is added to a score by how far query i is from key j, which is
 * bias[h, longest + i - j].
 * lse[T,H], when not NULL, receives the log-sum-exp of each row for the backward.
 * Never materialises more than one block of scores per thread.
 */
struct nn_attention {
	struct nn_sequences sequences;
	size_t H, K, D, ldq, ldkv;
	bool causal;
	size_t window;
	float scale;	   /* 0: 1 / sqrt(D) */
	const float *bias; /* NULL: none */
	/* both sides of the products may be rounded to bf16, forward and back, where that is quicker; sums are floats */
	bool rounded;
};
void nn_attention(float *out, float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a);
/* dq, dk, dv have the strides of q, k, v.  dbias[2 T H] is added to: a sequence of `length` tokens from
 * `start` on has its own [H, 2 length], as bias, from 2 start H on. */
void nn_attention_back(float *dq, float *dk, float *dv, float *dbias, const float *dout,
    const float *out, const float *lse, const float *q, const float *k, const float *v,
    const struct nn_attention *a);

/* The bias of a table that is learned: bias[h,x] = table[buckets[x], h], x below 2 longest. */
void nn_bias(float *bias, struct nn_matrix table, const int32_t *buckets, size_t longest,
    size_t H);
/* Adds to dtable[., H] what nn_attention_back left in dbias. */
void nn_bias_back(float *dtable, const float *dbias, const int32_t *buckets,
    const struct nn_sequences *sequences, size_t H);

enum nn_pool {
	NN_POOL_CLS,
	NN_POOL_MEAN,
	NN_POOL_MAX,
	NN_POOL_MEAN_SQRT,
	NN_POOL_WEIGHTED,
	NN_POOL_LAST
};

/* y[N,C] (row stride ldy) from x[T,C]; the first skip[i] tokens of sequence i take no part
 * (include_prompt = false: the prompt with its leading special tokens; skip may be NULL): CLS is
 * the first after them; WEIGHTED counts 1, 2, ... from token 0 all the same.  Where they are all,
 * CLS is token 0, LAST the last, and the others are zeros. */
void nn_pool(float *y, size_t ldy, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, enum nn_pool kind, size_t C);
/* dx[T,C] overwritten, zero where nothing flows. */
void nn_pool_back(float *dx, const float *dy, size_t ldy, const float *x,
    const struct nn_sequences *sequences, const int32_t *skip, enum nn_pool kind,
    size_t C);

/* Softmax: of rows, in the loss, in routes to token experts. -------------------- */

/* y = softmax of each row of x[R,V]; y may be x. */
void nn_softmax(float *y, const float *x, size_t R, size_t V);
/* dx = y (dy - sum of dy y); dx may be dy. */
void nn_softmax_back(float *dx, const float *dy, const float *y, size_t R, size_t V);

/*
 * Softmax cross-entropy of rows, in place: logits[R,V] become d(sum over rows)/d logits x scale,
 * i.e. scale (softmax - onehot).  Entries whose mask[R,V] byte is 0 take no part (mask may be
 * NULL).  Adds to `sum`, in memory of the backend, the loss of all rows (double accumulation)
 * and how many of their targets have the greatest logit: a target that shares it with others counts 1 / their number,
 * which is the chance that a draw among them picks it.
 */
struct nn_loss {
	double loss;
	double correct;
};
void nn_cross_entropy(float *logits, struct nn_loss *sum, const int32_t *targets,
    const uint8_t *mask, float scale, size_t R, size_t V);

/*
 * Routes to token experts: chosen[T,top] are the `top` greatest of each row of p[T,E], in
 * ascending order, of equal ones those before; weights[T,top] what they are there, divided by
 * their sum when renormalize.
 */
void nn_route(int32_t *chosen, float *weights, const float *p, bool renormalize, size_t T,
    size_t E, size_t top);
/* dp[T,E] overwritten: 0 for what was not chosen. */
void nn_route_back(float *dp, const float *dweights, const int32_t *chosen,
    const float *p, bool renormalize, size_t T, size_t E, size_t top);

/* The slots of chosen[T,top] sorted by expert, those of one in their own order: expert e has
 * the entries offsets[e] .. offsets[e+1]-1 (offsets[E+1]) of slots[T top] and of rows[T top],
 * slot / top, its tokens. */
void nn_group(int32_t *rows, int32_t *slots, int32_t *offsets, const int32_t *chosen,
    size_t T, size_t E, size_t top);

/* Optimiser. -------------------------------------------------------------------- */

/* What is updated as a whole, of arrays that hold all parameters; tables of them are in memory of the backend, `most`
 * is the count of the largest. */
struct nn_piece {
	size_t offset, count;
	double decay;
	int64_t step; /* its own, from 1; 0: it stays as it is */
	size_t
	    moments; /* the offset in m and v, of which each rank (ranks.h) has a part */
};

/* sums[i] = sum of squares of piece i of x, as nn_square_sum. */
void nn_square_sums(double *sums, const float *x, const struct nn_piece *pieces,
    size_t count, size_t most);

/*
 * AdamW, decoupled decay (Loshchilov and Hutter 2019, algorithm 2; torch.optim.AdamW), of each piece:
 * w -= lr decay w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;
 * w -= lr (m / (1 - b1^step)) / (sqrt(v / (1 - b2^step)) + eps),  with g = gradient x scale.
 * The gradients of the pieces then are zero, of those that stay as they are, too.
 */
struct nn_adamw {
	double lr, beta1, beta2, eps, scale;
};
void nn_adamw(float *w, float *m, float *v, float *gradient, const struct nn_adamw *a,
    const struct nn_piece *pieces, size_t count, size_t most);

#endif
