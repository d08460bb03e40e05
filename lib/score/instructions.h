/*
 * instructions - mteb's scores of queries that come in groups: variants of one query with other instructions.
 *
 *	robustness	robustness_at_10 (InstructIR): the mean over groups of their least nDCG@10
 *	pairs		paired_accuracy (NevIR): the share of pairs, PREFIX_q1 and PREFIX_q2, whose queries both have their
 *			relevant documents first, recall 1 at rank 1
 *	levels		level_scores (IFIR): mean nDCG@20 of the queries with v1, v2 or v3 in their ids
 *
 * A group is the queries whose ids are equal up to the first "_".  Means are not rounded.
 *
 * p-MRR (FollowIR, Weller et al. 2024): do documents that a changed instruction makes irrelevant fall?  From the ranks of
 * such a document for the queries ID-og and ID-changed, -1 (it rises to the top) to 1 (it falls from there), means over
 * documents, then over ids; a document that is not found ranks behind all others.
 */
#ifndef SCORE_INSTRUCTIONS_H
#define SCORE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "score/measure/ranking.h"
#include "score/report.h"
#include "score/score.h"
#include "search/run.h"

struct instructions;

struct instructions *instructions_new(enum instruction_score kind);

/* Adds a query by its id. */
void instructions_add(struct instructions *instructions, const char *id, size_t length,
    const struct graded_list *list);

/* Reports the score, and makes it the main one unless it is that of levels.  Dies if a pair is not complete; `name`: of
 * the file of judgements. */
void instructions_report(
    const struct instructions *instructions, struct report *report, const char *name);
void instructions_free(struct instructions *instructions);

/* Whether a query's instruction is the original one: its id ends with "-og". */
bool instructions_original(const char *id, size_t length);

/* p-MRR of the documents that the file `path` lists for each id (run_read_candidates).  Warns of ids without both queries in
 * the run; dies if none has. */
double instructions_p_mrr(const struct run *run, const char *path);

#endif
