/*
 * combine - hidden states HS and routing weights RW of a text as one embedding (Li and Zhou 2024, MoEE, section 3.3).
 *
 *	hs	HS			cos HS
 *	rw	RW			cos RW
 *	concat	[HS; RW]		its cosine
 *	sum	[HS/|HS|; sqrt(alpha) RW/|RW|]	cos HS + alpha cos RW
 *	apart	HS and RW, each for itself	none
 *
 * The vectors of sum have that sum as their dot product, and as 1 + alpha times their cosine.
 * The cosine of zeros with anything is 0.
 */
#ifndef PAPERS_MOEE_COMBINE_H
#define PAPERS_MOEE_COMBINE_H

#include <stdint.h>

#include "papers/moee/emitted.h"

enum combine { COMBINE_SUM, COMBINE_CONCAT, COMBINE_HS, COMBINE_RW, COMBINE_APART };

/* "sum", ...; ends with NULL. */
extern const char *const combine_names[];

/* Values of a field's embedding. */
int combine_width(const struct emitted_field *field);

/* Not apart.  Embedding number `at` of the record that was loaded, to [combine_width]; returns how many of its parts, or of
 * itself, are zeros where the cosine is of them. */
int combine_vector(enum combine how, double alpha, float *to,
    const struct emitted_field *field, int64_t at);

/* Not apart.  The similarity of a pair, in double. */
double combine_similarity(
    enum combine how, double alpha, struct emitted_side one, struct emitted_side two);

/* The cosine of the hidden states or routing weights of a pair, in double. */
double combine_cosine(int kind, struct emitted_side one, struct emitted_side two);

#endif
