/*
 * make_variables - what there is to encode and to score, as variables of make.
 *
 *	name := MODEL, revision := HASH
 *	base, base_revision		of the model without its gates, where it has some
 *	sts += STS12			the sets of a type, in lower case
 *	STS12.type := STS
 *	STS12.test := FILE		train, test, queries, corpus, qrels
 *	STS12.query := --task NAME	the prompt of texts, or of queries; .document of documents
 *	SET.samples, SET.identical	as the registry has them
 *	faulty += SET, SET.fault := WHY	a set that cannot be scored
 *
 * A prompt is the first that the model has of SET-query, SET, TYPE-query, TYPE, query (where the
 * type has sides) and the registry's: mteb's order, then ours.
 */
#ifndef MTEB_MAKE_VARIABLES_H
#define MTEB_MAKE_VARIABLES_H

#include <stdio.h>

#include "mteb/data_folder.h"
#include "mteb/model_meta.h"

/* `words` choose sets (names, types, benchmarks; none: all); dies on one that
 * means nothing in `data`, and on names and paths that make cannot take. */
void make_variables_print(const struct data_folder *folder, const char *data,
    const struct model_meta *model, char **words, int count, FILE *out);

#endif
