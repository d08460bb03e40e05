/*
 * buffer - growing arrays of bytes and of integers.
 *
 * A zeroed struct is empty.  The caller may lower `used` or `count`, and frees `data`.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *data; /* never NULL after buffer_add, not even of nothing */
	size_t used, capacity;
};

struct numbers {
	int64_t *data;
	size_t count, capacity;
};

/* Makes room for `count` more bytes and returns where they go; the caller writes them and adds to `used`. */
char *buffer_room(struct buffer *buffer, size_t count);
void buffer_add(struct buffer *buffer, const void *bytes, size_t count);
void numbers_add(struct numbers *numbers, int64_t number);

#endif
