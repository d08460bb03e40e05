/*
 * pickle - what Python's pickle says of values, read as data: nothing is called, imported or run.
 *
 * Of protocol 2, the opcodes that tables of weights are made of.  A call stands as what it is, a
 * function's name and its arguments, for the caller to make sense of.  Every other opcode, and every
 * name but those allowed, is refused.
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
	PICKLE_CALL, /* of `function` with `of`, a tuple; with members if that made a dict */
	PICKLE_PERSISTENT /* what `of` stands for outside the pickle */
};

struct pickle_value {
	enum pickle_kind kind;
	int64_t integer; /* of booleans, too */
	const char *string;
	const struct pickle_value *function, *of;
	/* of a tuple; of a dict or a call its members: key, value, key, value, ... */
	const struct pickle_value **items;
	size_t count, room;
	struct pickle_value *next; /* of all that were made */
};

struct pickle;

/* allowed: the names of globals, NULL at the end.  path: for messages. */
struct pickle *pickle_read(
    const char *path, const char *bytes, size_t length, const char *const *allowed);
const struct pickle_value *pickle_root(const struct pickle *pickle);
void pickle_free(struct pickle *pickle);

#endif
