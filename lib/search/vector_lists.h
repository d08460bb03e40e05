/*
 * vector_lists - texts as lists of the vectors of their tokens.
 */
#ifndef SEARCH_VECTOR_LISTS_H
#define SEARCH_VECTOR_LISTS_H

#include <stddef.h>
#include <stdint.h>

/* Text i has the vectors from starts[i] to starts[i + 1] - 1.  Zeroed: no texts. */
struct vector_lists {
	float *vectors;
	int64_t *starts; /* [count + 1], NULL without texts */
	int64_t count;
	size_t room, starts_room;
};

/* Adds a text of `vectors` vectors; returns the length of its longest. */
double vector_lists_add(
    struct vector_lists *lists, const float *at, int64_t vectors, int width);

/* The number of all vectors. */
int64_t vector_lists_vectors(const struct vector_lists *lists);

/* Forgets the texts, but keeps the memory. */
void vector_lists_clear(struct vector_lists *lists);
void vector_lists_free(struct vector_lists *lists);

#endif
