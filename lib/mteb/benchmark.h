/*
 * benchmark - the registry of data sets, share/tasks.yaml: what is said of each, and of its type.
 *
 * Files are read in order; a later line replaces an earlier one of the same name.  Everything is
 * checked as it is read: an unknown key or a wrong word dies with FILE:LINE.
 */
#ifndef BENCHMARK_H
#define BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

enum { BENCHMARK_QUERY, BENCHMARK_DOCUMENT, BENCHMARK_SIDES };

struct benchmark_task {
	const char *name, *type; /* the type as mteb writes it: "STS" */
	const char *main, *split, *subset;
	const char *part_of;		     /* NULL: it stands for itself */
	const char *prompt[BENCHMARK_SIDES]; /* names of prompts; NULL: none */
	int64_t samples;		     /* of a label; 0: not told */
	int64_t size[2]; /* rows, or queries and documents; 0: not told */
	bool ignore_identical;
	const struct tree *in; /* a name, a list of names, or NULL */
};

struct benchmark {
	struct benchmark_task **tasks;
	size_t count, capacity;
	struct tree **files;
	size_t file_count, file_capacity;
	bool v2; /* main metrics of protocol v2 */
};

struct benchmark *benchmark_new(bool v2);
void benchmark_read(struct benchmark *benchmark, const char *path);

/* NULL when it is not there. */
const struct benchmark_task *benchmark_find(
    const struct benchmark *benchmark, const char *name);

/* A type by its name in any case, "sts" as "STS"; NULL when it is none. */
const char *benchmark_type(const struct benchmark *benchmark, const char *name);

/* A task that no file has, with what its type says.  The name is copied. */
const struct benchmark_task *benchmark_add(
    struct benchmark *benchmark, const char *name, const char *type);

/* Whether a word means the task: its name, its type in any case, or a benchmark it is in. */
bool benchmark_means(const struct benchmark_task *task, const char *word);
void benchmark_free(struct benchmark *benchmark);

#endif
