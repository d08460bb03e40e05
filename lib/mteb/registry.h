/*
 * registry - the registry of data sets, share/tasks.yaml: what is said of each, and of its type.
 *
 * Files are read in order; a later line replaces an earlier one of the same name.  Everything is
 * checked as it is read: an unknown key or a wrong word dies with FILE:LINE.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

enum { REGISTRY_QUERY, REGISTRY_DOCUMENT, REGISTRY_SIDES };

struct registry_task {
	const char *name, *type; /* the type as mteb writes it: "STS" */
	const char *main, *split, *subset;
	const char *part_of;		    /* NULL: it stands for itself */
	const char *prompt[REGISTRY_SIDES]; /* names of prompts; NULL: none */
	int64_t samples;		    /* of a label; 0: not told */
	int64_t size[2]; /* rows, or queries and documents; 0: not told */
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

/* A task that no file has, with what its type says.  The name is copied. */
const struct registry_task *registry_add(
    struct registry *registry, const char *name, const char *type);

/* Whether a word means the task: its name, its type in any case, or a benchmark it is in. */
bool registry_means(const struct registry_task *task, const char *word);
void registry_free(struct registry *registry);

#endif
