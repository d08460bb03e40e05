/*
 * settings - what decides the weights of a run: a checkpoint goes on only under the same, and all ranks have the same.
 */
#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

#include "text/tree.h"
#include "train/trainer.h"

struct tree *settings_of(
    const struct trainer_options *options, const struct model *model, int64_t steps);

/* The first that differs, or that only one of both has; NULL: none. */
const char *settings_differ(const struct tree *own, const struct tree *other);

/* The same of those that a run must have in common with the one whose checkpoint it goes on from.  Others may change on
 * the way: how many tokens are computed at a time, and where the rate is constant when the run ends. */
const char *settings_refuse(const struct tree *own, const struct tree *saved);

/* A value as messages have it, to be freed. */
char *settings_text(const struct tree *value);

/* Dies, naming `name` and the setting, where they are not the first rank's (ranks.h). */
void settings_agree(const struct tree *settings, const char *name);

#endif
