/*
 * buffer - bytes and numbers that grow at their end.
 *
 * Zeroed they are empty; `used` and `count` may be set back.  Whoever has one frees its data.
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

/* Room for `count` bytes behind what is used, for the caller to fill and count. */
char *buffer_room(struct buffer *buffer, size_t count);
void buffer_add(struct buffer *buffer, const void *bytes, size_t count);
void numbers_add(struct numbers *numbers, int64_t number);

#endif
