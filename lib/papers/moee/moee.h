/*
 * moee - what moee-sim does with a stream: for each field X of which it has hidden states X.hs and routing weights
 * X.rw, the embedding X.emb that they are together, and for pairs of texts their similarity.
 *
 * The property "emb" of what comes out says how it was made, so that vectors of two alphas are not compared.
 */
#ifndef PAPERS_MOEE_MOEE_H
#define PAPERS_MOEE_MOEE_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/moee/combine.h"

struct moee_options {
	enum combine combine;
	enum { ALPHA_VALUE, ALPHA_EXACT, ALPHA_GRID } search;
	double alpha; /* unless it is searched for */
	enum {
		NORM_NONE,
		NORM_BATCH,
		NORM_CORPUS
	} norm;	       /* each part is standardised (standard.h) */
	int64_t batch; /* NORM_BATCH: texts of a field */
	const char
	    *like; /* NORM_CORPUS: the stream whose vectors decide; NULL: the same */
	bool keep; /* X.hs and X.rw */
	const char *output;
	int level; /* of zstd; -1: the default */
};

/* Record by record where alpha is given and nothing standardised; else the stream is read again (replay.h), 16 bytes a
 * pair are kept where alpha is searched for.  Dies on what emitted.h refuses, and where alpha is searched for without pairs. */
void moee_stream(const char *path, const struct moee_options *options);

#endif
