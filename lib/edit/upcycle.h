/*
 * upcycle - task experts (model/experts.h) given to a dense model, assigned to tasks, averaged to a dense model.
 *
 * Numbers are copied as they are stored.  A folder is written beside `dir`, then renamed into place; all die naming file
 * and tensor.
 */
#ifndef EDIT_UPCYCLE_H
#define EDIT_UPCYCLE_H

#include <stdbool.h>

#include "text/tree.h"

struct upcycle {
	const char *const *names;
	int count;
	const bool *layers; /* [SPEC_LAYERS]; those beyond the model's are ignored */
	bool norms;
	const struct tree *tasks;   /* rows as experts_assign takes them; NULL: none */
	const struct tree *prompts; /* by the name of an expert or task; NULL: none */
};

/* Gives the blocks `layers` `count` task experts, each a copy of the dense MLP (and norms), so that every expert equals the
 * dense model (Komatsuzaki et al. 2022; MoTE section 3.1.1).  An expert "NAME" that has no prompt, here or in the folder,
 * gets "NAME: ". */
void model_upcycle(const char *from, const char *dir, const struct upcycle *how);

/* Copies a folder with other tasks and prompts; reads nothing else of `how`.  Files of weights become hard links where the
 * file system can. */
void model_assign(const char *from, const char *dir, const struct upcycle *how);

/* Averages the experts (MoTE, appendix on EA): MLPs and norms of the dense model are the means of the experts'.  Each task
 * keeps its prompt. */
void model_average(const char *from, const char *dir);

#endif
