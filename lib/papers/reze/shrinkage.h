/*
 * shrinkage - the factors by which eigencomponents of sources are shrunk (REZE, section 3.1, equations 2 to 6).
 *
 * mu[j,s] is component j of source s's mean in the eigenspace; all sources have the same weight.  For the `active` first components:
 *	m[j]      = median over s of mu[j,s], or their mean, or 0
 *	v[j]      = mean over s of (mu[j,s] - m[j])^2						(2)
 *	theta     = median of v + gamma (median of |v - median of v| + epsilon)			(4)
 *	band[j]   = gamma mean over s of |mu[j,s] - m[j]|, or gamma times their median		(5)
 * If v[j] > theta and |mu[j,s] - m[j]| >= band[j], with sgn(0) = 1,
 *	factor[j,s] = 1 + eta (m[j] + sgn(mu - m) band[j] - mu) / (sgn(mu) (|mu| + epsilon))	(6)
 * clipped to `least` .. `most`; otherwise it is 1.
 *
 * The paper prints equation 6 with the divisor |mu| + epsilon.  That moves a negative mean away from the median, and an
 * eigenvector's arbitrary sign decides which means are negative.  With mu's sign the mean moves by eta towards the edge of the band,
 * whatever the eigenvector's sign; `printed` selects the paper's text.
 */
#ifndef PAPERS_REZE_SHRINKAGE_H
#define PAPERS_REZE_SHRINKAGE_H

#include <stdbool.h>

enum shrinkage_centre { CENTRE_MEDIAN, CENTRE_MEAN, CENTRE_ZERO };
enum shrinkage_band { BAND_MEAN, BAND_MEDIAN };

struct shrinkage_settings {
	double gamma, eta;
	double rho; /* share of the variance of the active components (equation 3) */
	double least, most;
	enum shrinkage_centre centre;
	enum shrinkage_band band;
	bool printed;
};
#define SHRINKAGE_EPSILON 1e-8

struct shrinkage {
	int sources, active;
	double threshold;		     /* theta */
	double *centre, *dispersion, *bands; /* [components]: m, v, band */
	double *factors;		     /* [components, sources] */
};

/* The number of falling eigenvalues that together reach `rho` of `total`; all if they do not. */
int shrinkage_active(const double *values, int count, double total, double rho);

/* From means [components, sources]. */
struct shrinkage *shrinkage_new(const double *means, int components, int sources,
    int active, const struct shrinkage_settings *settings);

/* Does a component distinguish sources: is it active, with v > theta? */
bool shrinkage_varies(const struct shrinkage *shrinkage, int component);
void shrinkage_free(struct shrinkage *shrinkage);

#endif
