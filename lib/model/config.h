/*
 * config - config.json and modules.json of a folder: they set the model's dir, folder, config, spec, head and expert_names.
 * Dies naming file and key.
 */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "model/model.h"

void model_configure(struct model *model, const char *dir);
void model_unconfigure(struct model *model); /* frees them */

/* Dies, naming `dir`, unless its head is the model's. */
void model_demand_head(
    const struct model *model, const char *dir, const struct head *head);

/* Dies unless the head in modules.json of the folder `dir`, where it has such a file, is the model's. */
void model_demand_listed_head(const struct model *model, const char *dir);

#endif
