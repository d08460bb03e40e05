#include "model/workspace.h"

#include "base/mem.h"
#include "nn/nn.h"

enum { ALIGNMENT = 64 };

void
workspace_measure(struct workspace *workspace)
{
	workspace->used = 0;
	workspace->measuring = true;
}

void
workspace_ready(struct workspace *workspace)
{
	workspace->base =
	    nn_reserve(workspace->base, &workspace->size, workspace->used, 1);
	workspace->used = 0;
	workspace->measuring = false;
}

void *
workspace_take(struct workspace *workspace, size_t rows, size_t columns, size_t size)
{
	size_t bytes =
	    mem_multiply(mem_multiply(rows, columns, "activations"), size, "activations");
	void *piece = workspace->measuring ? NULL : workspace->base + workspace->used;

	bytes = mem_add(bytes, ALIGNMENT - 1, "activations") & ~(size_t)(ALIGNMENT - 1);
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
	nn_free(workspace->base, workspace->size);
	*workspace = (struct workspace){ 0 };
}
