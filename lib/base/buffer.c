#include "base/buffer.h"

#include <string.h>

#include "base/mem.h"

char *
buffer_room(struct buffer *buffer, size_t count)
{
	size_t need = mem_add(buffer->used, count, "a buffer");

	buffer->data =
	    mem_grow(buffer->data, &buffer->capacity, mem_add(need, 1, "a buffer"), 1);
	return buffer->data + buffer->used;
}

void
buffer_add(struct buffer *buffer, const void *bytes, size_t count)
{
	char *room = buffer_room(buffer, count);

	if (count)
		memcpy(room, bytes, count);
	buffer->used += count;
}

void
numbers_add(struct numbers *numbers, int64_t number)
{
	numbers->data = mem_grow(
	    numbers->data, &numbers->capacity, numbers->count + 1, sizeof *numbers->data);
	numbers->data[numbers->count++] = number;
}
