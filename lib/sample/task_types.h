/*
 * task_types - MTEB's task types: the names of their fields, and which rows are pairs of query and document (REZE, appendix C.1).
 */
#ifndef SAMPLE_TASK_TYPES_H
#define SAMPLE_TASK_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum { TASK_NAMES = 4 };

/* The use of a field in a pair; the first two are the sides of a recipe. */
enum task_use { TASK_QUERY, TASK_DOCUMENT, TASK_MARK, TASK_OTHER };

struct task_field {
	const char *type;
	enum task_use use;
	const char *names[TASK_NAMES]; /* in files, ours first */
	bool scored;		       /* a text that mteb-score embeds */
	bool each;		       /* may be a list, a pair for each member */
};

struct task_type {
	const char *name;
	const char *holds; /* condition on the mark of a pair: "=1"; NULL: none */
	bool folder;	   /* a BEIR folder, not rows of a file */
	bool worded;	   /* the document is a label's text */
	int64_t group;	   /* queries of one document per example; 0: one */
};

/* The fields of the types below; for Retrieval those of the records of "queries" and "corpus". */
enum { TASK_FIELDS = 19, TASK_TYPES = 7 };
extern const struct task_field task_fields[TASK_FIELDS];
extern const struct task_type task_types[TASK_TYPES];

#endif
