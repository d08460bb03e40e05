/*
 * settings - the options and facts that decide the weights of a run.  A run resumes a checkpoint only if they are equal, and all
 * ranks must have the same.
 */
#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

#include "text/tree.h"
#include "train/trainer.h"

/* A new object of every setting; the caller frees it. */
struct tree *settings_of(
    const struct trainer_options *options, const struct model *model, int64_t steps);

/* The first setting that forbids to resume a checkpoint with the settings `saved`; NULL: none.  The number of tokens per pass may
 * change, and with a constant rate the number of steps. */
const char *settings_refuse(const struct tree *own, const struct tree *saved);

/* A value as text for a message; the caller frees it. */
char *settings_text(const struct tree *value);

/* Dies, naming `name` and the setting, if this rank's settings differ from the first rank's (ranks.h). */
void settings_agree(const struct tree *settings, const char *name);

#endif
