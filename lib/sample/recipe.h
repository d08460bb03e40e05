/*
 * recipe - the YAML file that sorts data sets by task; its keys are in tasksample(1).
 *
 * Dies with FILE:LINE on an unknown key, an unknown word or a number out of range.  Strings are borrowed from the recipe.
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

/* A data set: its examples come from files, or from the judgements of a BEIR folder. */
struct recipe_source {
	const char *name;
	const char **files, *beir, *split; /* beir NULL: files; split NULL: not given */
	int file_count, task;
	const struct task_type *type; /* NULL: not given */
	struct fields_each each;      /* no names: a row is an example */
	int64_t group; /* queries of one document per example; 0: one row per example */
	const char *field[SIDES], *label; /* NULL: not given */
	const char **negatives;		  /* fields, NULL at the end; NULL: not given */
	const char *score, **negative_scores; /* fields of numbers; likewise */
	double scale;			      /* which scores are divided by */
	const struct tree *names; /* of label values, a mapping or a list; NULL: none */
	int64_t max_negatives;
	struct comparison **where; /* all must hold */
	int where_count;
	bool has_where;	  /* true also for an empty 'where' */
	uint64_t part[2]; /* first and last hash of the part */
	enum recipe_side part_by;
	int64_t sample, first;	 /* examples: by hash; of the file; INT64_MAX: all */
	double weight;		 /* occurrences of an example per epoch: task's x own */
	const struct tree *node; /* for messages */
};

struct recipe_task {
	const char *name;
	enum recipe_batching batching;
	bool uniform;	    /* draws its data sets with equal chance, not in proportion */
	double temperature; /* 0: not given */
	const char *prompt[SIDES], *expert[SIDES]; /* NULL: not given */
	const struct tree
	    *drawn;	 /* a list of experts: each batch draws one; NULL: `expert` */
	int first, last; /* its sources: first .. last-1 */
	const struct tree *node; /* for messages */
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

struct recipe *recipe_open(const char *path);

/* Sets the batching of all tasks. */
void recipe_batch_as(struct recipe *recipe, enum recipe_batching batching);

/* Warns of keys that do not apply to the batching. */
void recipe_tell_unused(const struct recipe *recipe);

/* Removes all tasks but the named ones.  Dies if no task has one of the names. */
void recipe_choose(struct recipe *recipe, const char *const *names, int count);
void recipe_close(struct recipe *recipe);

#endif
