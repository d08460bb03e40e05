/*
 * mem - allocation and size arithmetic that die instead of failing.
 *
 * Ownership in all of lib: whoever calls x_open or x_new calls x_close or x_free.  Any other returned pointer is
 * borrowed and valid as long as its owner, unless the header says "to be freed".
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Allocate count * size bytes; die on overflow or when memory is exhausted. */
void *mem_new(size_t count, size_t size);		/* not cleared */
void *mem_zero(size_t count, size_t size);		/* cleared */
void *mem_resize(void *old, size_t count, size_t size); /* like realloc */

/* As mem_new, for large arrays that are mostly written: the system may use huge pages. */
void *mem_large(size_t count, size_t size);
char *mem_string(const char *text); /* a copy */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_format_with(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

/* Appends a word to a list for a message, "a, b"; NULL or "" starts one.  Frees `list`, returns the new one. */
char *mem_list(char *list, const char *word);

/* a * b and a + b; on overflow they die with `what` in the message. */
size_t mem_multiply(size_t a, size_t b, const char *what);
size_t mem_add(size_t a, size_t b, const char *what);

void *mem_grown(void *old, size_t *capacity, size_t need, size_t size);

/*
 * Makes room for at least `need` elements in a growing array; doubles its capacity.
 *	items = mem_grow(items, &capacity, need, sizeof *items);
 */
static inline void *
mem_grow(void *old, size_t *capacity, size_t need, size_t size)
{
	return need <= *capacity ? old : mem_grown(old, capacity, need, size);
}

#endif
