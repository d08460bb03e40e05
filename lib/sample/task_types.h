/*
 * task_types - MTEB's types of tasks: what the fields of their rows are called, and how such rows
 * are pairs of a text and what belongs to it (REZE, appendix C.1).
 */
#ifndef SAMPLE_TASK_TYPES_H
#define SAMPLE_TASK_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum { TASK_NAMES = 4 };

/* What a field is to a pair; the first two are the sides of a recipe. */
enum task_use { TASK_QUERY, TASK_DOCUMENT, TASK_MARK, TASK_OTHER };

struct task_field {
	const char *type;
	enum task_use use;
	const char *names[TASK_NAMES]; /* that files have for it, ours first */
	bool scored; /* a text that is embedded where the type is scored */
	bool each;   /* may be a list of which each member is a pair's */
};

struct task_type {
	const char *name;
	const char *holds; /* of the mark, where a row is a pair: "=1"; NULL: all are */
	bool folder;	   /* BEIR's, not rows of one file */
	bool worded;	   /* the document is a label's text */
	int64_t group;	   /* so many queries of one document make one; 0: none */
};

/* Of the types below, of Retrieval the records of "queries" and of "corpus". */
enum { TASK_FIELDS = 19, TASK_TYPES = 7 };
extern const struct task_field task_fields[TASK_FIELDS];
extern const struct task_type task_types[TASK_TYPES];

#endif
