/*
 * recipe - the YAML file that sorts data sets by task; its keys are in tasksample(1).
 *
 * Everything is checked as it is read: an unknown key, a wrong word or a number out of range
 * dies with FILE:LINE.  The arrays are open on purpose; strings are borrowed from the recipe.
 */
#ifndef SAMPLE_RECIPE_H
#define SAMPLE_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/fields.h"
#include "sample/task_types.h"
#include "text/comparison.h"
#include "text/tree.h"

enum recipe_side { SIDE_QUERY, SIDE_DOCUMENT, SIDES };
enum recipe_batching { BATCHING_HOMOGENEOUS, BATCHING_HETEROGENEOUS, BATCHING_STATIC };
enum recipe_duplicates { DUPLICATES_MARK, DUPLICATES_APART, DUPLICATES_KEEP };

/* A data set's examples: of files, or of the judgements of a BEIR folder. */
struct recipe_source {
	const char *name;
	const char **files, *beir, *split; /* beir NULL: files; split NULL: not given */
	int file_count, task;
	const struct task_type *type; /* NULL: not given */
	struct fields_each each;      /* no names: a row is an example */
	int64_t group; /* so many queries of one document make one; 0: none */
	const char *field[SIDES], *label; /* NULL: not given */
	const char **negatives;	  /* fields; a NULL behind the last; NULL: not given */
	const struct tree *names; /* of documents, a mapping or a list of strings; NULL */
	int64_t max_negatives;
	struct comparison **where; /* all must hold */
	int where_count;
	bool has_where;	  /* if only an empty one */
	uint64_t part[2]; /* first and last hash of what is taken */
	enum recipe_side part_by;
	int64_t sample, first;	 /* so many, by hash and of the file; INT64_MAX: all */
	double weight;		 /* times each example comes in an epoch: task's x own */
	const struct tree *node; /* for messages */
};

struct recipe_task {
	const char *name;
	enum recipe_batching batching;
	bool uniform;	    /* draws its data sets alike, not by what is left */
	double temperature; /* 0: not given */
	const char *prompt[SIDES], *expert[SIDES]; /* NULL: not given */
	int first, last;			   /* its sources: first .. last-1 */
	const struct tree *node;		   /* for messages */
};

struct recipe {
	uint64_t seed;
	int64_t batch, epochs; /* epochs 0: not given */
	bool drop_last, uniform, is_static;
	enum recipe_duplicates duplicates;
	double temperature; /* of static batches; 0: not given */
	struct recipe_task *tasks;
	struct recipe_source *sources;
	int task_count, source_count;
	struct tree *tree;
};

extern const char *const recipe_batchings[], *const recipe_duplicates[],
						 *const recipe_sides[];

/* Index of a word in one of the lists above; -1: it is not there. */
int recipe_word(const char *const *words, const char *word);

struct recipe *recipe_open(const char *path);

/* All tasks batch this way. */
void recipe_batch_as(struct recipe *recipe, enum recipe_batching batching);

/* Warn of words that do not apply to the batching at hand. */
void recipe_tell_unused(const struct recipe *recipe);

/* Leave only tasks of these names; dies on one that is not there. */
void recipe_choose(struct recipe *recipe, const char *const *names, int count);
void recipe_close(struct recipe *recipe);

#endif
