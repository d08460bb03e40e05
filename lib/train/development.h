/*
 * development - held-out data measured while a model trains: columns of the log, the best step, when to stop.
 *
 * The model is measured before the first step, as step 0, after the steps that are due, and after the last one.  The best step has the greatest
 * dev_report.best: nDCG@10 if there is a corpus (held_out.h), that of a cross-encoder's candidates, the correlation of scored
 * pairs, else the least loss; the first of equal ones.  Its model is kept in the folder OUT.best, whole at any time, and moved
 * to OUT at the end.  A checkpoint has the state, and a run that goes on from it measures again what it measured after the
 * checkpoint, with the same values.
 */
#ifndef TRAIN_DEVELOPMENT_H
#define TRAIN_DEVELOPMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/tree.h"
#include "train/objective.h"
#include "train/trainer.h"

struct development;

/* NULL without held-out data; all functions take NULL.  Options and settings (settings.h) are borrowed. */
struct development *development_new(
    const struct trainer_options *options, const struct tree *settings);
void development_free(struct development *development);

/* Adds what decides which model is written to the settings of a checkpoint. */
void development_settings(const struct trainer_options *options, struct tree *settings);

/* Is the model to be measured after this step, which may be the last one that is known?  Step 0: before the first one, unless a
 * checkpoint has that. */
bool development_due(const struct development *development, int64_t step);

/* Measures; true: this step is the best so far. */
bool development_measure(
    struct development *development, struct objective *objective, int64_t step);

/* Has the run ended by --patience? */
bool development_exhausted(const struct development *development);

/* The model of this step goes to OUT.best, unless only the last one is wanted. */
void development_keep(const struct development *development, const struct model *model,
    const struct tree *origin);

/* Moves OUT.best to OUT and returns true, or false if OUT is to be the model of the last step. */
bool development_take_best(const struct development *development);

/* Tells people the best step and its measure; warns if that is the start. */
void development_say(const struct development *development);

/* Columns of the log, each after a tab: names; values, empty if the step was not measured. */
void development_print_names(const struct development *development, FILE *log);
void development_print(const struct development *development, int64_t step, FILE *log);

/* The state for a checkpoint and train.json, an object; and back.  Dies if OUT.best is missing. */
struct tree *development_state(const struct development *development);
void development_resume(struct development *development, const struct tree *state);

#endif
