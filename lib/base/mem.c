#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

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

char *
mem_string(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(mem_new(bytes, 1), text, bytes);
}

char *
mem_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		die("out of memory: a message could not be formatted");
	return text;
}

void *
mem_grow(void *old, size_t *capacity, size_t need, size_t size)
{
	if (need <= *capacity)
		return old;
	size_t wanted = *capacity < 8 ? 8 : mem_multiply(*capacity, 2, "memory");
	if (wanted < need)
		wanted = need;
	*capacity = wanted;
	return mem_resize(old, wanted, size);
}

size_t
arena_size(size_t count, size_t size)
{
	size_t bytes = mem_multiply(count, size, "arena");

	return mem_add(bytes, ALIGNMENT - 1, "arena") & ~(size_t)(ALIGNMENT - 1);
}

void
arena_reserve(struct arena *arena, size_t bytes)
{
	arena->used = 0;
	if (bytes <= arena->size)
		return;
	arena_free(arena);
	/* a margin, so that a slowly growing need does not map anew each time */
	bytes = mem_add(bytes, bytes / 8, "arena");
	bytes = mem_add(bytes, HUGE_PAGE - 1, "arena") & ~(size_t)(HUGE_PAGE - 1);
	void *block =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		die("out of memory: %zu bytes were asked for", bytes);
	madvise(block, bytes, MADV_HUGEPAGE);
	arena->base = block;
	arena->size = bytes;
}

void *
arena_take(struct arena *arena, size_t count, size_t size)
{
	size_t bytes = arena_size(count, size);

	if (bytes > arena->size - arena->used)
		die("arena: %zu bytes are wanted, %zu are left", bytes,
		    arena->size - arena->used);
	void *piece = arena->base + arena->used;
	arena->used += bytes;
	if (arena->used > arena->peak)
		arena->peak = arena->used;
	return piece;
}

void
arena_free(struct arena *arena)
{
	if (arena->base)
		munmap(arena->base, arena->size);
	*arena = (struct arena){ 0 };
}
