#include "folder/pickle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

struct pickle {
	const char *path, *start, *at, *end;
	const char *const *allowed;
	struct pickle_value *made;
	struct pickle_value **stack, **memo; /* NULL on the stack: a mark */
	size_t depth, stack_room, kept, memo_room;
};

_Noreturn static void
fail(const struct pickle *pickle, const char *what)
{
	die("%s: byte %zu of its pickle: %s", pickle->path,
	    (size_t)(pickle->at - pickle->start), what);
}

static const char *
take(struct pickle *pickle, size_t bytes)
{
	const char *at = pickle->at;

	if ((size_t)(pickle->end - at) < bytes)
		fail(pickle, "it ends in the middle; truncated?");
	pickle->at += bytes;
	return at;
}

/* A little-endian integer of up to eight bytes. */
static int64_t
number(struct pickle *pickle, int bytes, bool negative)
{
	const char *at = take(pickle, (size_t)bytes);
	uint64_t value =
	    negative && bytes && (signed char)at[bytes - 1] < 0 ? ~(uint64_t)0 : 0;

	while (bytes--)
		value = value << 8 | (unsigned char)at[bytes];
	return (int64_t)value;
}

static void
push_known(struct pickle *pickle, struct pickle_value *value)
{
	pickle->stack = mem_grow(
	    pickle->stack, &pickle->stack_room, pickle->depth + 1, sizeof *pickle->stack);
	pickle->stack[pickle->depth++] = value;
}

static void
push(struct pickle *pickle, struct pickle_value value)
{
	struct pickle_value *made = mem_new(1, sizeof *made);

	*made = value;
	made->next = pickle->made;
	pickle->made = made;
	push_known(pickle, made);
}

static struct pickle_value *
pop(struct pickle *pickle)
{
	if (!pickle->depth || !pickle->stack[pickle->depth - 1])
		fail(pickle, "a value is missing");
	return pickle->stack[--pickle->depth];
}

/* The values above the last mark, `*count` of them, and the mark are taken away; they stay where
 * they are until the next push. */
static struct pickle_value **
pop_marked(struct pickle *pickle, size_t *count)
{
	size_t past = pickle->depth;

	while (pickle->depth && pickle->stack[pickle->depth - 1])
		pickle->depth--;
	if (!pickle->depth)
		fail(pickle, "a mark is missing");
	*count = past - pickle->depth;
	return pickle->stack + pickle->depth--;
}

static void
add_items(struct pickle_value *to, struct pickle_value *const *items, size_t count)
{
	to->items = mem_grow(to->items, &to->room, to->count + count, sizeof *to->items);
	for (size_t i = 0; i < count; i++)
		to->items[to->count++] = items[i];
}

static void
push_tuple(struct pickle *pickle, struct pickle_value *const *items, size_t count)
{
	struct pickle_value tuple = { .kind = PICKLE_TUPLE };

	if (count)
		add_items(&tuple, items, count);
	push(pickle, tuple);
}

static void
push_last(struct pickle *pickle, size_t count)
{
	struct pickle_value *items[3];

	for (size_t i = count; i > 0; i--)
		items[i - 1] = pop(pickle);
	push_tuple(pickle, items, count);
}

static void
push_text(struct pickle *pickle)
{
	size_t length = (size_t)number(pickle, 4, false);
	const char *at = take(pickle, length);

	if (memchr(at, 0, length) || utf8_valid(at, length) != length)
		fail(pickle, "a text is not UTF-8, or has a NUL in it");
	char *text = mem_new(length + 1, 1);
	memcpy(text, at, length);
	text[length] = 0;
	push(pickle, (struct pickle_value){ .kind = PICKLE_STRING, .string = text });
}

static int
line(struct pickle *pickle, const char **text)
{
	const char *end = memchr(pickle->at, '\n', (size_t)(pickle->end - pickle->at));

	if (!end || end - pickle->at > 200)
		fail(pickle, "a name has no end");
	*text = pickle->at;
	pickle->at = end + 1;
	return (int)(end - *text);
}

static void
push_global(struct pickle *pickle)
{
	const char *module, *name, *const *known = pickle->allowed;
	int module_length = line(pickle, &module), length = line(pickle, &name);
	char *text = mem_format("%.*s.%.*s", module_length, module, length, name);

	while (*known && strcmp(*known, text))
		known++;
	if (!*known)
		die("%s: asks for '%s', which no table of weights does; nothing of it was run",
		    pickle->path, text);
	free(text);
	push(pickle, (struct pickle_value){ .kind = PICKLE_GLOBAL, .string = *known });
}

/* Stores the top of the stack under the next memo number. */
static void
keep(struct pickle *pickle, size_t index)
{
	if (index != pickle->kept)
		fail(pickle, "values are kept out of order");
	struct pickle_value *value = pop(pickle);
	push_known(pickle, value);
	pickle->memo = mem_grow(
	    pickle->memo, &pickle->memo_room, pickle->kept + 1, sizeof *pickle->memo);
	pickle->memo[pickle->kept++] = value;
}

static void
fetch(struct pickle *pickle, size_t index)
{
	if (index >= pickle->kept)
		fail(pickle, "a value is fetched before it is kept");
	push_known(pickle, pickle->memo[index]);
}

static void
call(struct pickle *pickle)
{
	const struct pickle_value *of = pop(pickle), *function = pop(pickle);

	if (function->kind != PICKLE_GLOBAL || of->kind != PICKLE_TUPLE)
		fail(pickle,
		    "a call of something that is not a function, or without a tuple");
	push(pickle,
	    (struct pickle_value){ .kind = PICKLE_CALL, .function = function, .of = of });
}

/* Sets members of the dict on the stack. */
static void
set_items(struct pickle *pickle, struct pickle_value *const *items, size_t count)
{
	struct pickle_value *dict = pop(pickle);

	if ((dict->kind != PICKLE_DICT && dict->kind != PICKLE_CALL) || count % 2)
		fail(pickle, "members are set on a value that is not a dict");
	if (count)
		add_items(dict, items, count);
	pickle->depth++; /* the dict stays */
}

static void
set_item(struct pickle *pickle)
{
	struct pickle_value *items[2];

	items[1] = pop(pickle);
	items[0] = pop(pickle);
	set_items(pickle, items, 2);
}

static void
push_long(struct pickle *pickle)
{
	int bytes = (int)number(pickle, 1, false);

	if (bytes > 8)
		fail(pickle, "a number is too large");
	push(pickle, (struct pickle_value){ .kind = PICKLE_INTEGER,
			 .integer = number(pickle, bytes, true) });
}

static void
push_plain(struct pickle *pickle, enum pickle_kind kind, int64_t integer)
{
	push(pickle, (struct pickle_value){ .kind = kind, .integer = integer });
}

static void
unknown(const struct pickle *pickle, unsigned char opcode)
{
	die("%s: byte %zu of its pickle: opcode 0x%02x, which no table of weights needs; nothing of it was run",
	    pickle->path, (size_t)(pickle->at - 1 - pickle->start), opcode);
}

static void
step(struct pickle *pickle, unsigned char opcode)
{
	struct pickle_value **items;
	size_t count;

	switch (opcode) {
	case '(': push_known(pickle, NULL); break;
	case ')': push_tuple(pickle, NULL, 0); break;
	case '}': push_plain(pickle, PICKLE_DICT, 0); break;
	case 'N': push_plain(pickle, PICKLE_NONE, 0); break;
	case 0x88:
	case 0x89: push_plain(pickle, PICKLE_BOOLEAN, opcode == 0x88); break;
	case 'K': push_plain(pickle, PICKLE_INTEGER, number(pickle, 1, false)); break;
	case 'M': push_plain(pickle, PICKLE_INTEGER, number(pickle, 2, false)); break;
	case 'J': push_plain(pickle, PICKLE_INTEGER, number(pickle, 4, true)); break;
	case 0x8a: push_long(pickle); break;
	case 'X': push_text(pickle); break;
	case 'c': push_global(pickle); break;
	case 'q': keep(pickle, (size_t)number(pickle, 1, false)); break;
	case 'r': keep(pickle, (size_t)number(pickle, 4, false)); break;
	case 'h': fetch(pickle, (size_t)number(pickle, 1, false)); break;
	case 'j': fetch(pickle, (size_t)number(pickle, 4, false)); break;
	case 't':
		items = pop_marked(pickle, &count);
		push_tuple(pickle, items, count);
		break;
	case 0x85:
	case 0x86:
	case 0x87: push_last(pickle, opcode - 0x84u); break;
	case 'R': call(pickle); break;
	case 'Q':
		push(pickle, (struct pickle_value){
				 .kind = PICKLE_PERSISTENT, .of = pop(pickle) });
		break;
	case 's': set_item(pickle); break;
	case 'u':
		items = pop_marked(pickle, &count);
		set_items(pickle, items, count);
		break;
	case 'b': pop(pickle); break; /* attributes, which no tensor needs */
	default: unknown(pickle, opcode);
	}
}

struct pickle *
pickle_read(
    const char *path, const char *bytes, size_t length, const char *const *allowed)
{
	struct pickle *pickle = mem_zero(1, sizeof *pickle);
	unsigned char opcode;

	*pickle = (struct pickle){ .path = path,
		.start = bytes,
		.at = bytes,
		.end = bytes + length,
		.allowed = allowed };
	if (memcmp(take(pickle, 2), "\x80\2", 2))
		die("%s: its pickle is not of protocol 2", path);
	while ((opcode = (unsigned char)*take(pickle, 1)) != '.')
		step(pickle, opcode);
	if (pickle->at != pickle->end || pickle->depth != 1 || !pickle->stack[0])
		fail(pickle, "it does not end with one value");
	return pickle;
}

const struct pickle_value *
pickle_root(const struct pickle *pickle)
{
	return pickle->stack[0];
}

void
pickle_free(struct pickle *pickle)
{
	for (struct pickle_value *value = pickle->made, *next; value; value = next) {
		next = value->next;
		if (value->kind == PICKLE_STRING)
			free((char *)value->string);
		free(value->items);
		free(value);
	}
	free(pickle->stack);
	free(pickle->memo);
	free(pickle);
}
