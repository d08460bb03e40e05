/* What is particular to static embeddings (folder/static_folder.h) when their folder is opened. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/static_folder.h"
#include "model/model_internal.h"

/* A table that is drawn has the name that its kind of folder has for it. */
static void
name_drawn(struct model *model)
{
	const char **name = &model->weights.tensors[0].name;

	if (static_folder_kind(model->dir) != STATIC_MODEL2VEC)
		return;
	free((char *)*name);
	*name = mem_string("embeddings");
}

void
model_match_table(struct model *model)
{
	if (!model->file) {
		name_drawn(model);
		return;
	}
	table_rows_read(&model->table_rows, model->file, model->spec.vocabulary);
	if (model->table_rows.count && model->mode != MODEL_ENCODE)
		die("%s: its tokens share rows or have weights ('mapping', 'weights'); such a table is read, and not written",
		    safetensors_name(model->file));
}
