/*
 * combine - combines hidden states HS and routing weights RW of a text to one embedding, and its similarity (MoEE, Li and Zhou
 * 2024, section 3.3).
 *
 *	hs	HS				cos HS
 *	rw	RW				cos RW
 *	concat	[HS; RW]			its cosine
 *	sum	[HS/|HS|; sqrt(alpha) RW/|RW|]	cos HS + alpha cos RW
 *	apart	HS and RW separately		none
 *
 * For sum, the vectors' dot product is that sum, and their cosine is the sum / (1 + alpha).  The cosine of a zero vector is 0.
 */
#ifndef PAPERS_MOEE_COMBINE_H
#define PAPERS_MOEE_COMBINE_H

#include <stdint.h>

#include "papers/moee/emitted.h"

enum combine { COMBINE_SUM, COMBINE_CONCAT, COMBINE_HS, COMBINE_RW, COMBINE_APART };

/* "sum", ...; ends with NULL. */
extern const char *const combine_names[];

/* Width of a field's embedding. */
int combine_width(const struct emitted_field *field);

/* Not for apart.  to[combine_width] = embedding number `at` of the loaded record; returns the number of zero vectors among those
 * whose cosine is taken: its parts for sum, else itself. */
int combine_vector(enum combine how, double alpha, float *to,
    const struct emitted_field *field, int64_t at);

/* Not for apart.  The similarity of a pair, in double. */
double combine_similarity(
    enum combine how, double alpha, struct emitted_side one, struct emitted_side two);

/* The cosine of the hidden states or routing weights of a pair, in double. */
double combine_cosine(int kind, struct emitted_side one, struct emitted_side two);

#endif
