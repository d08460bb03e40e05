/*
 * alpha - how much the similarity of routing weights weighs beside that of hidden states, found without
 * labels (Li and Zhou 2024, MoEE, section 3.3).
 *
 * Of pairs with similarities h and r, the alpha for which the mean of
 *	rho(h + alpha r, h)  and  rho(h + alpha r, r)
 * is greatest, rho being Spearman's correlation.
 *
 * The ranks of h + alpha r change only where two pairs cross: where h_i < h_j and r_i > r_j, at
 *	alpha = (h_j - h_i) / (r_i - r_j),
 * where i rises by a rank and j falls by one, so that the sums of products of ranks change by differences of two ranks.
 * alpha_exact looks at all crossings, n (n - 1) / 2 at most, and so at all intervals between them: it counts them in
 * buckets along k / (k + alpha), k the ratio of the deviations of h and r, and sorts those of the buckets that may hold the greatest mean.
 * Memory: 32 bytes a pair, and those crossings.  20,000 pairs take 3 seconds of one core, 10 times as many 100 times as long.
 */
#ifndef PAPERS_MOEE_ALPHA_H
#define PAPERS_MOEE_ALPHA_H

#include <stdint.h>

struct alpha {
	double value;
	double rho_hs, rho_rw; /* with h, with r */
};

/* For alpha_exact; sums of products of ranks of more would not fit. */
enum { ALPHA_PAIRS = 2000000 };

/* The correlations at an alpha.  n >= 2, neither of h and r [n] constant; so below. */
struct alpha alpha_at(double value, const double *h, const double *r, int64_t n);

/* The greatest mean for alpha > 0; of equal ones the least alpha.  Of the interval it is the number with the
 * fewest digits in the middle half.  Alphas at which two different pairs tie are not looked at, nor intervals shorter than
 * 1e-12 of the scale above: what is in them is rounding. */
struct alpha alpha_exact(const double *h, const double *r, int64_t n);

/* The same among 0.1, 0.2, ... 1, as the authors say they searched. */
struct alpha alpha_grid(const double *h, const double *r, int64_t n);

#endif
