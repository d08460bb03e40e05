/*
 * plan - the data sets to encode and score, as variables for pipelines/mteb.mk.
 *
 *	name := MODEL, revision := HASH
 *	base, base_revision		of the model without gates and method, if it has any
 *	sts += STS12			the sets of a type, in lower case
 *	STS12.type := STS
 *	STS12.test := FILE		train, test, queries, corpus, qrels
 *	STS12.query := --task NAME	the prompt of texts, or of queries; .document: of documents
 *	SET.samples, SET.identical	from the registry
 *	faulty += SET, SET.fault := WHY	a set that cannot be scored
 *
 * The prompt is the first that the model has of SET-query, SET, TYPE-query, TYPE, query (names with a side only
 * for types with sides), in mteb's order, then the registry's.
 */
#ifndef MTEB_PLAN_H
#define MTEB_PLAN_H

#include <stdio.h>

#include "mteb/data_folder.h"
#include "mteb/model_meta.h"

/* `words` select sets by name, type or benchmark (none: all).  Dies on a word that selects nothing in `data`, and on
 * names and paths that make cannot read. */
void plan_print(const struct data_folder *folder, const char *data,
    const struct model_meta *model, char **words, int count, FILE *out);

#endif
