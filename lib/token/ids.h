/*
 * ids - a growing list of token ids.
 */
#ifndef IDS_H
#define IDS_H

#include <stddef.h>
#include <stdint.h>

struct ids {
	int32_t *id;
	size_t count, capacity;
};

void ids_push(struct ids *ids, int32_t id);
void ids_free(struct ids *ids);

#endif
