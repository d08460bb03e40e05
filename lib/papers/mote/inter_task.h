/*
 * inter_task - how alike a model's embeddings of one text are under different tasks: their cosines,
 * for each two tasks (MoTE, section 5.2: "inter-task similarity").
 *
 * Several streams are a task each: called as their rows say (rows_task), else by the file's name.
 * One stream holds all tasks, as its rows say.  Rows are of one text that have one id ("_id" or "id"),
 * without ids one place among the rows of their task.  Dies, naming stream and row, unless each text is
 * there once for each task, with a finite embedding that is not zero, and, where texts were kept, with
 * one text.
 *
 * Cosines are computed in double from the components as they are stored.  8 bytes a text and pair
 * of tasks stay, and the ids.  Several streams pass by side by side: an embedding is held until all have come
 * to its text, which takes next to nothing where they have one order.  One stream of all tasks is held.
 */
#ifndef PAPERS_MOTE_INTER_TASK_H
#define PAPERS_MOTE_INTER_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"

enum { INTER_TASK_MOST = 64 }; /* tasks */

struct inter_task {
	char *stream;	       /* the first one, for messages */
	struct strings *tasks; /* by their bytes; two at least */
	struct strings
	    *ids;   /* of the texts, one at least; without ids their numbers from 1 */
	bool named; /* there were ids */
	double **cosines; /* [pairs][texts], pairs by their numbers */
	uint64_t *texts;  /* [texts] hashes; 0: the text was not kept */
};

/* `field` and `any_model` as of rows(.h).  The paths are borrowed. */
struct inter_task *inter_task_read(
    const char *const *paths, int count, const char *field, bool any_model);

/* The number of a pair of different tasks, and how many there are. */
int inter_task_pair(int one, int other);
int inter_task_pairs(const struct inter_task *inter_task);

/* [pairs + 1][texts]: the cosines of each pair, those of the first task before those of the second, and,
 * last, each text's mean over the pairs.  Tasks and texts are in the order of `like`, which may be
 * another model's or the same; dies, naming the first that one of them lacks, or whose texts differ.  To be
 * freed, each list and all. */
double **inter_task_lists(
    const struct inter_task *inter_task, const struct inter_task *like);
void inter_task_free(struct inter_task *inter_task);

#endif
