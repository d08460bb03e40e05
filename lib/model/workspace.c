#include "model/workspace.h"

#include "base/mem.h"
#include "nn/nn.h"

void
workspace_measure(struct workspace *workspace)
{
	workspace->used = 0;
	workspace->measuring = true;
}

void
workspace_ready(struct workspace *workspace)
{
	size_t need = workspace->used;

	workspace->used = 0;
	workspace->measuring = false;
	if (need <= workspace->size)
		return;
	workspace_free(workspace);
	/* a margin, so that batches that grow slowly do not allocate anew each time */
	need = mem_add(need, need / 8, "activations");
	workspace->base = nn_alloc(need);
	workspace->size = need;
}

void *
workspace_take(struct workspace *workspace, size_t rows, size_t columns, size_t size)
{
	size_t bytes = arena_size(mem_multiply(rows, columns, "activations"), size);
	void *piece = workspace->measuring ? NULL : workspace->base + workspace->used;

	workspace->used = mem_add(workspace->used, bytes, "activations");
	return piece;
}

float *
workspace_floats(struct workspace *workspace, size_t rows, size_t columns)
{
	return workspace_take(workspace, rows, columns, sizeof(float));
}

void
workspace_free(struct workspace *workspace)
{
	if (workspace->base)
		nn_free(workspace->base, workspace->size);
	*workspace = (struct workspace){ 0 };
}
