/*
 * mem - allocation that cannot fail, sizes that cannot overflow.
 *
 * Whoever calls x_open/x_new calls x_close/x_free; every other pointer that the
 * library hands out is borrowed and dies with its owner.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* count * size bytes, or death: on overflow, or when memory is exhausted. */
void *mem_new(size_t count, size_t size);		/* not cleared */
void *mem_zero(size_t count, size_t size);		/* cleared */
void *mem_resize(void *old, size_t count, size_t size); /* like realloc */

/* As mem_new: much memory of which most is written to, where the system may take large pages. */
void *mem_large(size_t count, size_t size);
char *mem_string(const char *text); /* a copy */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_format_with(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* A list that one reads in a message, "a, b", and a further word; NULL or "" begins one.
 * Frees `list`. */
char *mem_list(char *list, const char *word);

/* a * b and a + b; die naming `what` when the result does not fit. */
size_t mem_multiply(size_t a, size_t b, const char *what);
size_t mem_add(size_t a, size_t b, const char *what);

void *mem_grown(void *old, size_t *capacity, size_t need, size_t size);

/*
 * Make room for at least `need` elements in a growing array; doubles.
 *	items = mem_grow(items, &capacity, need, sizeof *items);
 */
static inline void *
mem_grow(void *old, size_t *capacity, size_t need, size_t size)
{
	return need <= *capacity ? old : mem_grown(old, capacity, need, size);
}

#endif
