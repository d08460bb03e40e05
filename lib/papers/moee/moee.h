/*
 * moee - moee-sim: for each field X combines hidden states X.hs and routing weights X.rw to the embedding X.emb, and adds the
 * similarity of pairs of texts (MoEE, Li and Zhou 2024, section 3.3).
 *
 * The property "emb" of the output names the combination, so that vectors of different alphas are not compared.
 */
#ifndef PAPERS_MOEE_MOEE_H
#define PAPERS_MOEE_MOEE_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/moee/combine.h"

struct moee_options {
	enum combine combine;
	enum { ALPHA_VALUE, ALPHA_EXACT, ALPHA_GRID } search;
	double alpha; /* for ALPHA_VALUE */
	enum {
		NORM_NONE,
		NORM_BATCH,
		NORM_CORPUS
	} norm;		  /* of each part (standardizer.h) */
	int64_t batch;	  /* NORM_BATCH: texts of a field per batch */
	const char *like; /* NORM_CORPUS: stream to standardise by; NULL: itself */
	bool keep;	  /* X.hs and X.rw */
	const char *output;
	int level; /* of zstd; -1: the default */
};

/* Reads the stream once if alpha is given and nothing is standardised, else again (replay.h); a search for alpha takes 16 bytes of
 * memory per pair.  Dies as emitted.h says, and on a search for alpha without pairs. */
void moee_stream(const char *path, const struct moee_options *options);

#endif
