/*
 * flow - a normalizing flow on vectors in the manner of Glow (Kingma and Dhariwal 2018): an invertible map
 * z = f(x) under which they are as likely as can be, where z is standard normal.
 *
 * Steps, each of three maps of [width] onto itself:
 *	ActNorm		x e^s + b, from the first vectors on of mean 0 and deviation 1
 *	linear		P L U x: a permutation, triangular matrices, of L the diagonal is 1; at first a rotation
 *	coupling	(a, b) -> (a, (b + t) sigmoid(s)), where (s, t) = MLP(a), of two hidden layers with ReLU
 * a is the first half, the shorter one where the width is odd.  The MLP's last layer begins with weights of
 * 0 and s = 2.  Nothing is split off, so that z has as many values as x.
 *
 *	log p(x) = -|z|^2 / 2 - width / 2 log(2 pi) + log |det df/dx|
 *
 * Vectors are float32, row-major [rows,width]; a row's z does not depend on the others.
 */
#ifndef PAPERS_REZE_FLOW_H
#define PAPERS_REZE_FLOW_H

#include <stddef.h>
#include <stdint.h>

struct flow_shape {
	int width, steps, hidden; /* width: 2 at least */
};

/* The parameters of a step, one after another; W y + b of the MLP with W as [out,in]. */
enum flow_part {
	FLOW_SHIFT,	   /* [width] b */
	FLOW_LOG_SCALE,	   /* [width] s */
	FLOW_UPPER,	   /* [width,width] U; what is below its diagonal is 0 */
	FLOW_LOG_DIAGONAL, /* [width] log |U_ii|, in place of the diagonal a parameter */
	FLOW_LOWER,	   /* [width,width] L, likewise */
	FLOW_HIDDEN1,	   /* [hidden,width/2], and its bias */
	FLOW_HIDDEN1_BIAS,
	FLOW_HIDDEN2, /* [hidden,hidden] */
	FLOW_HIDDEN2_BIAS,
	FLOW_COUPLING, /* [2 (width - width/2),hidden]: s, then t */
	FLOW_COUPLING_BIAS,
	FLOW_PARTS
};

struct flow {
	struct flow_shape shape;
	size_t offsets[FLOW_PARTS + 1]; /* of the parts in a step; the last: its size */
	float *values;			/* [steps,size], memory of nn */
	int32_t *permutations;		/* [steps,width] (P x)[permutation[i]] = x[i] */
};

/* A flow with room for its parameters, all 0. */
struct flow *flow_new(const struct flow_shape *shape);
void flow_free(struct flow *flow);

/* One as training begins it, of a rotation by chance; ActNorm is fitted to these vectors.  Returns how many of
 * their values do not vary (enough to be told from rounding): these keep their scale. */
int flow_start(struct flow *flow, const float *x, size_t rows, uint64_t seed);

size_t flow_size(const struct flow *flow); /* parameters */
float *flow_part(const struct flow *flow, int step, enum flow_part part);

/* z and, unless NULL, log |det df/dx| [rows]; z may be x. */
void flow_forward(const struct flow *flow, float *z, double *log_determinant,
    const float *x, size_t rows);

/* x with f(x) = z; x may be z. */
void flow_inverse(const struct flow *flow, float *x, const float *z, size_t rows);

/* The diagonals of U as their logarithms say: after these have changed. */
void flow_refresh(struct flow *flow);

/* What a training step needs: the mean of -log p(x) / width of a batch, and its gradients. */
struct flow_pass;
struct flow_pass *flow_pass_new(const struct flow *flow, size_t most_rows);
double flow_gradient(
    struct flow_pass *pass, float *gradient, const float *x, size_t rows);
void flow_pass_free(struct flow_pass *pass);

#endif
