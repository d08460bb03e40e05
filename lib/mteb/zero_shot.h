/*
 * zero_shot - whether a model was trained on a task, as mteb's leaderboard has it.
 *
 * model_meta.json lists the tasks whose sets a model was trained on: "training_datasets", a list of names, an object whose
 * keys are the names, or null: unknown.  A set counts for all tasks of its family (registry.h), which are made of the same texts.
 */
#ifndef MTEB_ZERO_SHOT_H
#define MTEB_ZERO_SHOT_H

#include <stdbool.h>

#include "mteb/registry.h"
#include "text/tree.h"

/* Whether it is known what the model was trained on; `meta`: its model_meta.json, or NULL. */
bool zero_shot_known(const struct tree *meta);

/* Whether the model was trained on the task or one of its family. */
bool zero_shot_trained(
    const struct registry *registry, const struct tree *meta, const char *task);

#endif
