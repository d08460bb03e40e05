/*
 * registry - the registry of data sets (share/tasks.yaml): the settings of each task and of its type.
 *
 * Files are read in order; a later entry replaces an earlier one of the same name.  Dies with FILE:LINE on unknown
 * keys and values.
 */
#ifndef MTEB_REGISTRY_H
#define MTEB_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

enum { REGISTRY_QUERY, REGISTRY_DOCUMENT, REGISTRY_SIDES };

/* Whether mteb scores a set by clustering-fast, and the layout that it reads. */
enum registry_fast {
	REGISTRY_NO_FAST,
	REGISTRY_FAST_SETS, /* the Hub's sets of texts, concatenated, or one text per row */
	REGISTRY_FAST_ROWS /* one text per row, made by mteb from the Hub's sets: it samples or splits labels */
};

struct registry_task {
	const char *name, *type; /* the type as mteb writes it: "STS" */
	const char *main, *split, *subset;
	const char *part_of; /* the data set that this is a part of, or NULL */
	const char *prompt[REGISTRY_SIDES]; /* names of prompts; NULL: none */
	int64_t samples; /* per label, or per experiment of clustering-fast; 0: default */
	enum registry_fast fast;
	double
	    documents; /* that clustering-fast samples from: a number; below 1: share; 0: all */
	int protocol; /* 1 or 2: the only one by which mteb scores it; 0: either */
	const struct tree *languages; /* a name, a list of names, or NULL: unknown */
	int64_t size[2];	      /* rows, or queries and documents; 0: unknown */
	bool ignore_identical;
	const struct tree *in; /* benchmarks: a name, a list of names, or NULL */
};

struct registry {
	struct registry_task **tasks;
	size_t count, capacity;
	struct tree **files;
	size_t file_count, file_capacity;
	bool v2; /* main metrics of protocol v2 */
};

struct registry *registry_new(bool v2);
void registry_read(struct registry *registry, const char *path);

/* NULL if absent. */
struct registry_task *registry_find(const struct registry *registry, const char *name);

/* The spelling of a type given in any case: "STS" for "sts"; NULL if unknown. */
const char *registry_type(const struct registry *registry, const char *name);

/* Adds a task that no file has, with the settings of its type ("clustering-fast": of Clustering).  The name is
 * copied. */
const struct registry_task *registry_add(
    struct registry *registry, const char *name, const char *type);

/* mteb-score's name of the task's type: "sts", "clustering-fast"; the caller frees it. */
char *registry_scorer(const struct registry_task *task);

/* Whether a word names the task, its type (both in any case), or a benchmark that has it. */
bool registry_means(const struct registry_task *task, const char *word);
void registry_free(struct registry *registry);

#endif
