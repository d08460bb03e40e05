/*
 * shrinkage - which eigencomponents of which sources are shrunk, and by how much: equations 2 to 6 of REZE.
 *
 * mu[j,s] is component j of source s's mean in the eigenspace; sources count alike, however many pairs they
 * have.  Of the `active` first components:
 *	m[j]      = median over s of mu[j,s], or their mean, or 0
 *	v[j]      = mean over s of (mu[j,s] - m[j])^2						(2)
 *	theta     = median of v + gamma (median of |v - median of v| + epsilon)			(4)
 *	band[j]   = gamma mean over s of |mu[j,s] - m[j]|, or gamma times their median		(5)
 * Where v[j] > theta and |mu[j,s] - m[j]| >= band[j], with sgn(0) = 1,
 *	factor[j,s] = 1 + eta (m[j] + sgn(mu - m) band[j] - mu) / (sgn(mu) (|mu| + epsilon))	(6)
 * kept within `least` and `most`; elsewhere it is 1.
 *
 * Equation 6 is printed with the divisor |mu| + epsilon.  That moves a negative mean away from the median, and an
 * eigenvector's sign, which is arbitrary, decides which means are negative.  With mu's own sign the mean goes
 * eta of the way to the edge of the band, whichever way the eigenvector points; `printed` is as the text has it.
 */
#ifndef PAPERS_REZE_SHRINKAGE_H
#define PAPERS_REZE_SHRINKAGE_H

#include <stdbool.h>

enum shrinkage_centre { CENTRE_MEDIAN, CENTRE_MEAN, CENTRE_ZERO };
enum shrinkage_band { BAND_MEAN, BAND_MEDIAN };

struct shrinkage_settings {
	double gamma, eta;
	double
	    rho; /* share of the variance that the active components have (equation 3) */
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

/* How many of the eigenvalues, which fall, have together `rho` of `total`; all where they have less. */
int shrinkage_active(const double *values, int count, double total, double rho);

/* From means [components, sources]. */
struct shrinkage *shrinkage_new(const double *means, int components, int sources,
    int active, const struct shrinkage_settings *settings);

/* Whether a component is one of those that tell sources apart: active, and v > theta. */
bool shrinkage_varies(const struct shrinkage *shrinkage, int component);
void shrinkage_free(struct shrinkage *shrinkage);

#endif
