#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"

size_t
mem_multiply(size_t a, size_t b, const char *what)
{
	size_t product;

	if (__builtin_mul_overflow(a, b, &product))
		die("%s: %zu x %zu is too large", what, a, b);
	return product;
}

size_t
mem_add(size_t a, size_t b, const char *what)
{
	size_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		die("%s: %zu + %zu is too large", what, a, b);
	return sum;
}

static void *
checked(void *memory, size_t bytes)
{
	if (!memory)
		die("out of memory: %zu bytes were asked for", bytes);
	return memory;
}

void *
mem_new(size_t count, size_t size)
{
	size_t bytes = mem_multiply(count, size, "memory");

	return checked(malloc(bytes ? bytes : 1), bytes);
}

void *
mem_zero(size_t count, size_t size)
{
	size_t bytes = mem_multiply(count, size, "memory");

	return checked(calloc(bytes ? bytes : 1, 1), bytes);
}

void *
mem_resize(void *old, size_t count, size_t size)
{
	size_t bytes = mem_multiply(count, size, "memory");

	return checked(realloc(old, bytes ? bytes : 1), bytes);
}

void *
mem_large(size_t count, size_t size)
{
	size_t bytes = mem_multiply(count, size, "memory"), page = 2 << 20;

	if (bytes < page)
		return mem_new(bytes, 1);
	size_t whole = mem_add(bytes, page - 1, "memory") & ~(page - 1);
	void *memory = checked(aligned_alloc(page, whole), bytes);
	madvise(memory, whole, MADV_HUGEPAGE);
	return memory;
}

char *
mem_string(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(mem_new(bytes, 1), text, bytes);
}

char *
mem_format_with(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		die("out of memory: a message could not be formatted");
	return text;
}

char *
mem_format(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text = mem_format_with(format, arguments);
	va_end(arguments);
	return text;
}

char *
mem_list(char *list, const char *word)
{
	char *longer =
	    list && *list ? mem_format("%s, %s", list, word) : mem_string(word);

	free(list);
	return longer;
}

void *
mem_grown(void *old, size_t *capacity, size_t need, size_t size)
{
	size_t wanted = *capacity < 8 ? 8 : mem_multiply(*capacity, 2, "memory");
	if (wanted < need)
		wanted = need;
	*capacity = wanted;
	return mem_resize(old, wanted, size);
}
