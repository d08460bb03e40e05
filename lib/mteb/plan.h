/*
 * plan - the data sets to encode and score, as variables for pipelines/mteb.mk.
 *
 *	name := MODEL, revision := HASH
 *	base, base_revision		of the model without gates and method, if it has any
 *	sts += STS12			the parts of sets of a type, in lower case: SET, or SET@SUBSET@SPLIT if mteb has
 *					several
 *	STS12.task := STS12, STS12.type := STS, STS12.part := default@test
 *	STS12.reports += STS12		the parts of a set
 *	STS12.test := FILE		train, test, queries, corpus, qrels
 *	STS12.query := --task NAME	the prompt of texts, or of queries; .document: of documents
 *					or --prompt TEXT, of a model that takes instructions (instruction.h)
 *	PART.samples, PART.identical	from the registry
 *	faulty += PART, PART.fault := WHY	a part that cannot be scored
 *
 * The prompt is the first that the model has of SET-query, SET, TYPE-query, TYPE, query (names with a side only
 * for types with sides), in mteb's order, then the registry's.
 */
#ifndef MTEB_PLAN_H
#define MTEB_PLAN_H

#include <stdio.h>

#include "mteb/benchmark.h"
#include "mteb/data_folder.h"
#include "mteb/model_meta.h"

struct plan_choice {
	const struct registry *registry;
	const struct tree *benchmark; /* only its parts; NULL: all */
	char *const *words; /* select parts by name, type or benchmark; none: all */
	int count;
	const char *
	    instruct; /* template of instructions, or "no"; NULL: the model's (instruction.h) */
};

/* Dies on a word that selects nothing in `data`, and on names and paths that make cannot read. */
void plan_print(const struct data_folder *folder, const char *data,
    const struct model_meta *model, const struct plan_choice *choice, FILE *out);

/* Prints how many of the benchmark's sets are in `data`, and a line for each that is not, with its place on the Hugging
 * Face Hub.  Returns the number of sets that are there. */
size_t plan_missing(const struct data_folder *folder, const char *data,
    const struct plan_choice *choice, FILE *out);

#endif
