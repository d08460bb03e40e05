/*
 * workspace - activations: pieces of one block of the kernels' memory.
 *
 * The function that lays the pieces out is run twice, first to measure and then to take,
 * so that sizes are written down once:
 *
 *	workspace_measure(w);
 *	layout(w, ...);		takes are NULL and counted
 *	workspace_ready(w);	grows the block if it must; it is kept and reused
 *	layout(w, ...);
 */
#ifndef MODEL_WORKSPACE_H
#define MODEL_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>

struct workspace {
	char *base;
	size_t size, used;
	bool measuring;
};

void workspace_measure(struct workspace *workspace);
void workspace_ready(struct workspace *workspace);

/* rows x columns elements of `size` bytes, 64-byte aligned, not cleared. */
void *workspace_take(
    struct workspace *workspace, size_t rows, size_t columns, size_t size);

/* The same for float. */
float *workspace_floats(struct workspace *workspace, size_t rows, size_t columns);
void workspace_free(struct workspace *workspace);

#endif
