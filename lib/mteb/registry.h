/*
 * registry - the registry of data sets, share/tasks.yaml: what is said of each, and of its type.
 *
 * Files are read in order; a later line replaces an earlier one of the same name.  Everything is
 * checked as it is read: an unknown key or a wrong word dies with FILE:LINE.
 */
#ifndef MTEB_REGISTRY_H
#define MTEB_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

enum { REGISTRY_QUERY, REGISTRY_DOCUMENT, REGISTRY_SIDES };

/* How mteb's clustering-fast reads a set that it scores. */
enum registry_fast {
	REGISTRY_NO_FAST,
	REGISTRY_FAST_SETS, /* the Hub's sets of texts, one after the other, or a text a row */
	REGISTRY_FAST_ROWS /* a text a row, as mteb makes them of the Hub's sets: it samples or splits labels */
};

struct registry_task {
	const char *name, *type; /* the type as mteb writes it: "STS" */
	const char *main, *split, *subset;
	const char *part_of;		    /* NULL: it stands for itself */
	const char *prompt[REGISTRY_SIDES]; /* names of prompts; NULL: none */
	int64_t
	    samples; /* of a label, or of an experiment of clustering-fast; 0: not told */
	enum registry_fast fast;
	double
	    documents; /* that clustering-fast draws from: a number, a share below 1, 0: all */
	int protocol; /* 1 or 2: the only one by which mteb scores it; 0: either */
	const struct tree *languages; /* a name, a list of names, or NULL: not told */
	int64_t size[2];	      /* rows, or queries and documents; 0: not told */
	bool ignore_identical;
	const struct tree *in; /* a name, a list of names, or NULL */
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

/* NULL when it is not there. */
const struct registry_task *registry_find(
    const struct registry *registry, const char *name);

/* A type by its name in any case, "sts" as "STS"; NULL when it is none. */
const char *registry_type(const struct registry *registry, const char *name);

/* A task that no file has, with what its type says; of "clustering-fast" what Clustering says.  The name is copied. */
const struct registry_task *registry_add(
    struct registry *registry, const char *name, const char *type);

/* What mteb-score calls the type by which the task is scored: "sts", "clustering-fast"; to be freed. */
char *registry_scorer(const struct registry_task *task);

/* Whether a word means the task: its name or its type, in any case, or a benchmark it is in. */
bool registry_means(const struct registry_task *task, const char *word);
void registry_free(struct registry *registry);

#endif
