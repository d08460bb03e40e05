/*
 * inter_task - the cosines between a model's embeddings of one text under different tasks (MoTE, section 5.2: "inter-task
 * similarity").
 *
 * Several streams have a task each, which their rows (rows_task) or else the file's name give; one stream has all tasks, which its
 * rows give.  Rows of one text have the same id ("_id" or "id"), or without ids the same position among their task's rows.  Dies,
 * naming stream and row, unless each text occurs once per task, with a finite embedding that is not zero and, if texts were kept,
 * with the same text.
 *
 * Cosines are computed in double from the stored components.  Memory: 8 bytes per text and pair of tasks, and the ids.  Several
 * streams are read in parallel: an embedding stays in memory until all streams have reached its text, which costs little if their
 * orders agree.  One stream of all tasks stays in memory.
 */
#ifndef PAPERS_MOTE_INTER_TASK_H
#define PAPERS_MOTE_INTER_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"

enum { INTER_TASK_MOST = 64 }; /* tasks */

struct inter_task {
	char *stream;	       /* the first one, for messages */
	struct strings *tasks; /* at least two, sorted by bytes */
	struct strings *ids;   /* of at least one text; without ids numbers from 1 */
	bool named;	       /* there were ids */
	double **cosines;      /* [pairs][texts], pairs as inter_task_pair */
	uint64_t *texts;       /* [texts] hashes; 0: the text was not kept */
};

/* `field` and `any_model`: see rows.h.  The paths are borrowed. */
struct inter_task *inter_task_read(
    const char *const *paths, int count, const char *field, bool any_model);

/* The number of a pair of different tasks, and the number of pairs. */
int inter_task_pair(int one, int other);
int inter_task_pairs(const struct inter_task *inter_task);

/* [pairs + 1][texts]: the cosines of each pair, those of the first task first, and last each text's mean over the pairs.  Tasks and
 * texts are in the order of `like`, another model's or the same; dies, naming the first that one lacks, or whose texts differ.  The
 * caller frees each list and the array. */
double **inter_task_lists(
    const struct inter_task *inter_task, const struct inter_task *like);
void inter_task_free(struct inter_task *inter_task);

#endif
