#include "papers/mote/inter_task.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

int
inter_task_pair(int one, int other)
{
	int low = one < other ? one : other, high = one < other ? other : one;

	return high * (high - 1) / 2 + low;
}

int
inter_task_pairs(const struct inter_task *inter_task)
{
	return inter_task_pair(0, (int)strings_count(inter_task->tasks));
}

/* Maps numbers of `like` to those of `names`; dies unless both have the same names.  The caller frees it. */
static int64_t *
numbers_of(const struct strings *names, const struct strings *like,
    const struct inter_task *own, const struct inter_task *other, const char *what)
{
	int64_t *numbers = mem_new((size_t)strings_count(like), sizeof *numbers);

	for (int64_t i = 0; i < strings_count(like); i++) {
		const char *name = strings_get(like, i);
		numbers[i] = strings_find(names, name, strings_length(like, i));
		if (numbers[i] < 0)
			die("%s: there is no %s '%s', but in %s; compare the same texts under the same tasks",
			    own->stream, what, name, other->stream);
	}
	if (strings_count(names) > strings_count(like))
		free(numbers_of(like, names, other, own, what));
	return numbers;
}

/* Dies if both have the text of a row and the texts differ. */
static void
check_texts(const struct inter_task *own, const struct inter_task *like,
    const int64_t *text, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (own->texts[text[i]] && like->texts[i] &&
		    own->texts[text[i]] != like->texts[i])
			die("%s: row '%s' has another text than in %s; compare the same texts, or leave the column out (mts cat -c)",
			    own->stream, strings_get(like->ids, i), like->stream);
}

static double *
in_order(const double *from, const int64_t *order, int64_t count)
{
	double *to = mem_new((size_t)count, sizeof *to);

	for (int64_t i = 0; i < count; i++)
		to[i] = from[order[i]];
	return to;
}

static double *
mean_list(double *const *lists, int count, int64_t texts)
{
	double *mean = mem_zero((size_t)texts, sizeof *mean);

	for (int64_t i = 0; i < texts; i++) {
		for (int list = 0; list < count; list++)
			mean[i] += lists[list][i];
		mean[i] /= count;
	}
	return mean;
}

double **
inter_task_lists(const struct inter_task *inter_task, const struct inter_task *like)
{
	int pairs = inter_task_pairs(like);
	int64_t texts = strings_count(like->ids);
	double **lists = mem_new((size_t)pairs + 1, sizeof *lists);

	if (inter_task->named != like->named)
		die("%s: one of it and %s has ids, the other none: nothing says which rows are of one text",
		    inter_task->stream, like->stream);
	int64_t *task = numbers_of(
	    inter_task->tasks, like->tasks, inter_task, like, "row of the task");
	int64_t *text = numbers_of(inter_task->ids, like->ids, inter_task, like, "row");
	check_texts(inter_task, like, text, texts);
	for (int i = 0, list = 0; list < pairs; i++)
		for (int j = i + 1; j < strings_count(like->tasks); j++)
			lists[list++] = in_order(
			    inter_task
				->cosines[inter_task_pair((int)task[i], (int)task[j])],
			    text, texts);
	lists[pairs] = mean_list(lists, pairs, texts);
	free(task);
	free(text);
	return lists;
}

void
inter_task_free(struct inter_task *inter_task)
{
	for (int i = 0; i < inter_task_pairs(inter_task); i++)
		free(inter_task->cosines[i]);
	free(inter_task->cosines);
	free(inter_task->texts);
	free(inter_task->stream);
	strings_free(inter_task->tasks);
	strings_free(inter_task->ids);
	free(inter_task);
}
