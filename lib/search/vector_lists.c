#include "search/vector_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/similarity.h"

double
vector_lists_add(struct vector_lists *lists, const float *at, int64_t vectors, int width)
{
	int64_t before = vector_lists_vectors(lists);
	size_t bytes = mem_multiply((size_t)width, sizeof *at, "vectors of tokens");
	double longest = 0;

	lists->vectors =
	    mem_grow(lists->vectors, &lists->room, (size_t)(before + vectors) + 1, bytes);
	if (vectors)
		memcpy(lists->vectors + before * width, at, (size_t)vectors * bytes);
	lists->starts = mem_grow(lists->starts, &lists->starts_room,
	    (size_t)lists->count + 2, sizeof *lists->starts);
	if (!lists->count)
		lists->starts[0] = 0;
	lists->starts[++lists->count] = before + vectors;
	for (int64_t i = 0; i < vectors; i++)
		longest =
		    fmax(longest, similarity_dot(at + i * width, at + i * width, width));
	return sqrt(longest);
}

int64_t
vector_lists_vectors(const struct vector_lists *lists)
{
	return lists->count ? lists->starts[lists->count] : 0;
}

void
vector_lists_clear(struct vector_lists *lists)
{
	lists->count = 0;
}

void
vector_lists_free(struct vector_lists *lists)
{
	free(lists->vectors);
	free(lists->starts);
	*lists = (struct vector_lists){ 0 };
}
