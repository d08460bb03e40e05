/*
 * benchmark - the parts of a task, and the benchmarks of the registry: lists of tasks, some with a part of their subsets
 * or splits.
 *
 *	benchmarks:
 *	  MTEB(eng, v2): { also: mteb-v2, tasks: [ArguAna, STS17: { subsets: en-en }, X: { splits: [dev, test] }] }
 */
#ifndef MTEB_BENCHMARK_H
#define MTEB_BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "mteb/registry.h"

/* A subset in a split.  Strings are borrowed from the registry. */
struct task_part {
	const char *split, *subset;
	const struct tree *languages; /* a name, a list of names, or NULL: unknown */
	int64_t size[2];	      /* rows, or queries and documents; 0: unknown */
};

struct task_parts {
	struct task_part *items;
	size_t count;
};

/* All parts of the task, split by split; the caller frees items.  There is at least one. */
struct task_parts task_parts(const struct registry_task *task);

/* The subset's name as a file's: with _ for blanks and signs, which make, the shell or the file system read as their own.
 * The caller frees it. */
char *task_part_subset(const struct task_part *part);

/* The same with the split: SUBSET@SPLIT. */
char *task_part_name(const struct task_part *part);

bool task_has_split(const struct registry_task *task, const char *split);

/* Dies if the node is no benchmark, as above. */
void benchmark_check(const struct tree *benchmark);

/* The node of the benchmark called so, by its name or one of `also`, in any case; NULL: there is none. */
const struct tree *benchmark_find(const struct registry *registry, const char *name);

/* As benchmark_find, but dies if there is none. */
const struct tree *benchmark_need(const struct registry *registry, const char *name);

/* The name of an item of the benchmark's "tasks". */
const char *benchmark_task(const struct tree *item);

/* Whether the benchmark has the task, or the part of the task if `part` is not NULL. */
bool benchmark_has(
    const struct tree *benchmark, const char *task, const struct task_part *part);

/* Whether a word means the part: as registry_means the task, or by a benchmark that has it. */
bool benchmark_means(const struct registry *registry, const struct registry_task *task,
    const struct task_part *part, const char *word);

/* Prints the benchmarks, with their numbers of tasks, as TSV; or the tasks that the words mean (registry_means, or a
 * benchmark), with type, metric, languages, and place on the Hugging Face Hub.  Dies on a word that means nothing. */
void benchmark_list(
    const struct registry *registry, char *const *words, int count, FILE *out);

#endif
