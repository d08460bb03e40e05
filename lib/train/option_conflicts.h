/*
 * option_conflicts - options of train(1) that exclude or need each other.
 */
#ifndef TRAIN_OPTION_CONFLICTS_H
#define TRAIN_OPTION_CONFLICTS_H

#include <stdbool.h>

#include "train/trainer.h"

/* Exits with a usage error that names two options which contradict each other. */
void option_conflicts_refuse(const struct trainer_options *options, bool from_scratch);

#endif
