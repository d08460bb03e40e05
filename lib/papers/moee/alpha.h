/*
 * alpha - the weight of routing weights' similarity beside that of hidden states, found without labels (MoEE, Li and Zhou 2024,
 * section 3.3).
 *
 * For pairs with similarities h and r, it is the alpha that maximises the mean of
 *	rho(h + alpha r, h)  and  rho(h + alpha r, r),
 * where rho is Spearman's correlation.
 *
 * The ranks of h + alpha r change only where two pairs cross: if h_i < h_j and r_i > r_j, at
 *	alpha = (h_j - h_i) / (r_i - r_j),
 * where i rises by a rank and j falls by one, so the sums of products of ranks change by differences of two ranks.  alpha_exact
 * examines all crossings, at most n (n - 1) / 2, and the intervals between them: it counts them in buckets along k / (k + alpha),
 * with k the ratio of the deviations of h and r, and sorts the buckets that may contain the maximum.  Memory: 32 bytes per pair,
 * and those crossings.  20,000 pairs take 3 seconds on one core; time grows with the square.
 */
#ifndef PAPERS_MOEE_ALPHA_H
#define PAPERS_MOEE_ALPHA_H

#include <stdint.h>

struct alpha {
	double value;
	double rho_hs, rho_rw; /* correlations with h and with r */
};

/* Maximum for alpha_exact: sums of products of ranks must fit into 64 bits. */
enum { ALPHA_PAIRS = 2000000 };

/* The maximum over alpha > 0; the smallest alpha of equal ones.  n >= 2; h and r [n] must not be constant.  Of the best interval it
 * returns the number with the fewest digits in the middle half.  Ignores alphas at which two pairs tie, and intervals shorter than
 * 1e-12 of the scale above, which are rounding. */
struct alpha alpha_exact(const double *h, const double *r, int64_t n);

/* The maximum among 0.1, 0.2, ... 1, the paper's grid. */
struct alpha alpha_grid(const double *h, const double *r, int64_t n);

#endif
