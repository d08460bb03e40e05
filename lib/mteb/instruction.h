/*
 * instruction - the prompt of a model that is told its task: mteb's sentence for the task, in the model's template.
 *
 * Texts that are compared with texts of their kind, and queries, have it; documents of queries do not.
 */
#ifndef MTEB_INSTRUCTION_H
#define MTEB_INSTRUCTION_H

#include "mteb/model_meta.h"
#include "mteb/registry.h"

/* The model's template, with {instruction}: `given`, NULL for "no"; else, if that is NULL, that of share/known-models.tsv by the
 * name of the model; NULL: it takes none.  To be freed.  Dies on a given one without {instruction}. */
char *instruction_template(const struct model_meta *model, const char *given);

/* The prompt of a side of the task, to be freed; NULL: none. */
char *instruction_prompt(
    const char *template, const struct registry_task *task, int side, bool sided);

#endif
