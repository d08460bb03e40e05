/*
 * flow - a normalizing flow as Glow (Kingma and Dhariwal 2018): an invertible map z = f(x) that maximises the likelihood of vectors x
 * for a standard normal z.  REZE (section 4.1.3) compares with it.
 *
 * Steps, each of three invertible maps:
 *	ActNorm		x e^s + b; initialised to mean 0 and deviation 1 of the first vectors
 *	linear		P L U x: a permutation, and triangular matrices, L with diagonal 1; initialised to a rotation
 *	coupling	(a, b) -> (a, (b + t) sigmoid(s)), where (s, t) = MLP(a), with two hidden layers and ReLU
 * a is the first half, the shorter one if the width is odd.  The MLP's last layer is initialised to weights 0 and s = 2.  z has as
 * many values as x: there is no multi-scale split.
 *
 *	log p(x) = -|z|^2 / 2 - width / 2 log(2 pi) + log |det df/dx|
 *
 * Vectors are f32, row-major [rows,width]; a row's z does not depend on other rows.
 */
#ifndef PAPERS_REZE_FLOW_H
#define PAPERS_REZE_FLOW_H

#include <stddef.h>
#include <stdint.h>

struct flow_shape {
	int width, steps, hidden; /* width: 2 at least */
};

/* The parameters of a step, in their order in memory; the MLP's weights are [out,in]. */
enum flow_part {
	FLOW_SHIFT,	   /* [width] b */
	FLOW_LOG_SCALE,	   /* [width] s */
	FLOW_UPPER,	   /* [width,width] U; 0 below the diagonal */
	FLOW_LOG_DIAGONAL, /* [width] log |U_ii|, the parameter for U's diagonal */
	FLOW_LOWER,	   /* [width,width] L; 0 above the diagonal */
	FLOW_HIDDEN1,	   /* [hidden,width/2] */
	FLOW_HIDDEN1_BIAS,
	FLOW_HIDDEN2, /* [hidden,hidden] */
	FLOW_HIDDEN2_BIAS,
	FLOW_COUPLING, /* [2 (width - width/2),hidden]: s, then t */
	FLOW_COUPLING_BIAS,
	FLOW_PARTS
};

struct flow {
	struct flow_shape shape;
	size_t offsets[FLOW_PARTS + 1]; /* of parts; the last: a step's size */
	float *values;			/* [steps,size], nn memory */
	int32_t *permutations;		/* [steps,width] (P x)[permutation[i]] = x[i] */
};

/* All parameters are 0. */
struct flow *flow_new(const struct flow_shape *shape);
void flow_free(struct flow *flow);

/* Initialises the flow with random rotations and ActNorm from vectors x [rows,width].  Returns the number of constant components (up
 * to rounding), which keep their scale. */
int flow_start(struct flow *flow, const float *x, size_t rows, uint64_t seed);

size_t flow_size(const struct flow *flow); /* number of parameters */
float *flow_part(const struct flow *flow, int step, enum flow_part part);

/* z [rows,width], and log |det df/dx| [rows] unless NULL; z may be x. */
void flow_forward(const struct flow *flow, float *z, double *log_determinant,
    const float *x, size_t rows);

/* x with f(x) = z; x may be z. */
void flow_inverse(const struct flow *flow, float *x, const float *z, size_t rows);

/* Updates the diagonals of U after a change of FLOW_LOG_DIAGONAL. */
void flow_refresh(struct flow *flow);

/* A training step: returns the mean of -log p(x) / width of a batch, and its gradient [flow_size]. */
struct flow_pass;
struct flow_pass *flow_pass_new(const struct flow *flow, size_t most_rows);
double flow_gradient(
    struct flow_pass *pass, float *gradient, const float *x, size_t rows);
void flow_pass_free(struct flow_pass *pass);

#endif
