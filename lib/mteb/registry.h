/*
 * registry - the registry of data sets (share/tasks.yaml): the settings of each task and of its type, and benchmarks.
 *
 * mteb scores each subset (a language, say) of a task in each of its splits: a part.  The task's score is the mean of
 * its parts.  A benchmark is a list of tasks, some with a part of their subsets or splits.
 *
 * Files are read in order; a later entry replaces an earlier one of the same name.  Dies with FILE:LINE on unknown
 * keys and values.  The first file has a thousand tasks: each is parsed when it is asked for
 * (yaml_entries.h).
 */
#ifndef MTEB_REGISTRY_H
#define MTEB_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "text/tree.h"

enum { REGISTRY_QUERY, REGISTRY_DOCUMENT, REGISTRY_SIDES };

/* Whether mteb scores a set by clustering-fast, and the layout that it reads. */
enum registry_fast {
	REGISTRY_NO_FAST,
	REGISTRY_FAST_SETS, /* the Hub's sets of texts, concatenated, or one text per row */
	REGISTRY_FAST_ROWS /* one text per row, made by mteb from the Hub's sets: it samples or splits labels */
};

struct registry_task {
	const char *name; /* borrowed from the registry's names */
	const char *type; /* as mteb writes it: "STS" */
	const char *main;
	const struct tree *splits; /* a name or a list of names; NULL: "test" */
	const struct tree *
	    subsets; /* a name, a list, or an object of NAME: languages; NULL: "default" */
	const char *path,
	    *data_revision;  /* of mteb's rows, on the Hugging Face Hub; or NULL */
	const char *part_of; /* the data set that this is a part of, or NULL */
	const char *
	    family; /* the name of a task made of the same texts, one for all of them, or NULL */
	const char *prompt[REGISTRY_SIDES]; /* names of prompts; NULL: none */
	const char *instruction
	    [REGISTRY_SIDES]; /* mteb's sentence for models that take one; NULL: none */
	int64_t samples; /* per label, or per experiment of clustering-fast; 0: default */
	int64_t experiments; /* of classification; 0: default */
	int64_t folds;	     /* of mteb's cross-validation; 0: none */
	const char *train;   /* split of the training rows */
	const char *groups;  /* retrieval: mteb-score's --groups, or NULL */
	const struct tree
	    *cuts; /* cut-offs of retrieval: a list of integers; NULL: default */
	enum registry_fast fast;
	double
	    documents; /* that clustering-fast samples from: a number; below 1: share; 0: all */
	int protocol; /* 1 or 2: the only one by which mteb scores it; 0: either */
	const struct tree *languages; /* a name, a list of names, or NULL: unknown */
	const struct tree *sizes; /* of each part (benchmark.h): as size; NULL: unknown */
	int64_t size
	    [2]; /* of a task with one part: rows, or queries and documents; 0: unknown */
	bool ignore_identical;
	const struct tree *in; /* benchmarks: a name, a list of names, or NULL */
};

/* A task's last entry, in file number `file`; node NULL: of no file. */
struct registry_entry {
	struct tree *node;
	size_t file;
	struct registry_task *task; /* NULL: not read yet */
};

struct registry {
	struct strings *names; /* of the tasks, in the order of entries */
	struct registry_entry *entries;
	size_t count, capacity;
	struct tree **files;
	size_t file_count, file_capacity;
	bool v2; /* main metrics of protocol v2 */
	const struct tree
	    *benchmark; /* that results are read for (benchmark.h); NULL: none */
};

struct registry *registry_new(bool v2);
void registry_read(struct registry *registry, const char *path);

/* Name and settings of task `number`, below registry->count. */
const char *registry_name(const struct registry *registry, size_t number);
struct registry_task *registry_task(const struct registry *registry, size_t number);

/* Reads all tasks, in less time than registry_task one by one. */
void registry_read_all(const struct registry *registry);

/* NULL if absent. */
struct registry_task *registry_find(const struct registry *registry, const char *name);

/* The spelling of a type given in any case: "STS" for "sts"; NULL if unknown. */
const char *registry_type(const struct registry *registry, const char *name);

/* Adds a task that no file has, with the settings of its type ("clustering-fast": of Clustering).  The name is
 * copied. */
const struct registry_task *registry_add(
    struct registry *registry, const char *name, const char *type);

/* The key's name or list of names; `otherwise` if the key is absent.  Dies on other values. */
const struct tree *registry_names(
    const struct tree *node, const char *key, const struct tree *otherwise);

/* Reads a size: a number of rows, or [queries, documents].  Dies on other values. */
void registry_size(int64_t size[2], const struct tree *node);

/* mteb-score's name of the task's type: "sts", "clustering-fast"; the caller frees it. */
char *registry_scorer(const struct registry_task *task);

/* Whether a word names the task, the set that it is a part of, or its type, in any case, or a benchmark of its `in`. */
bool registry_means(const struct registry_task *task, const char *word);
void registry_free(struct registry *registry);

#endif
