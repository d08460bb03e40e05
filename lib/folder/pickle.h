/*
 * pickle - parses Python's pickle as data, without calling or importing anything.
 *
 * Supports the opcodes of protocol 2 that checkpoints of PyTorch use.  A call becomes a value with the function's name
 * and its arguments, which the caller interprets.  Any other opcode, and any global that is not allowed, is refused.
 */
#ifndef FOLDER_PICKLE_H
#define FOLDER_PICKLE_H

#include <stddef.h>
#include <stdint.h>

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOLEAN,
	PICKLE_INTEGER,
	PICKLE_STRING, /* UTF-8 without NUL */
	PICKLE_GLOBAL, /* a function's or a class's name, "module.name" */
	PICKLE_TUPLE,
	PICKLE_DICT,
	PICKLE_CALL,	  /* function(*of); with members if it made a dict */
	PICKLE_PERSISTENT /* persistent id `of` */
};

struct pickle_value {
	enum pickle_kind kind;
	int64_t integer; /* also of booleans */
	const char *string;
	const struct pickle_value *function, *of;
	/* [count]: elements of a tuple; key, value, key, value, ... of a dict or call */
	const struct pickle_value **items;
	size_t count, room;
	struct pickle_value *next; /* list of all values, for freeing */
};

struct pickle;

/* allowed: names of globals that may occur, ending with NULL.  path: for messages. */
struct pickle *pickle_read(
    const char *path, const char *bytes, size_t length, const char *const *allowed);
const struct pickle_value *pickle_root(const struct pickle *pickle);
void pickle_free(struct pickle *pickle);

#endif
