/*
 * jinja_internal - the state of a rendering.  jinja.c has the statements, jinja_operators.c the operators, jinja_expression.c the values
 * with their members, slices, methods and tests, jinja_value.c the filters and what is known of a value.
 */
#ifndef TEXT_JINJA_INTERNAL_H
#define TEXT_JINJA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "text/tree.h"

struct jinja {
	char *name, *source; /* source: newlines are \n, without the last */
	size_t length;
};

/* Whole numbers are at most ten times this. */
enum { JINJA_MOST = 1000000000 };

/* A variable of the template: {% set %}, {% for %}. */
struct jinja_local {
	const char *name;
	size_t length;
	const struct tree *value; /* NULL: undefined */
};

/* A member of a namespace; the last one of its name counts. */
struct jinja_member {
	const struct tree *of; /* the namespace, an empty object */
	const char *name;
	const struct tree *value; /* NULL: undefined */
};

/* A value that the rendering made. */
struct jinja_value {
	struct tree *tree;
	bool borrows; /* a list whose items have other owners */
};

struct jinja_run {
	const struct jinja *template;
	const char *at, *end; /* in the source */
	bool line_start;      /* what was read last ends a line */
	int depth;	      /* of nested blocks and parentheses */
	size_t work,
	    most; /* bytes and values read, made and compared; how many at most */
	char *
	    fault; /* the message about a bad value; NULL: none, or the value is not used */
	const struct tree *variables;
	struct jinja_local *locals;
	size_t count, room;
	struct jinja_value *values;
	size_t value_count, value_room;
	struct jinja_member *members;
	size_t member_count, member_room;
	struct buffer out;
};

/* Dies naming template and line. */
_Noreturn void jinja_die(const struct jinja_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes that a value is wrong, which kills after the expression unless the value does not count, as after "false and". */
void jinja_fault(struct jinja_run *run, const char *what);

/* Enters a block or parenthesis; dies where they nest too deep. */
void jinja_enter(struct jinja_run *run);

/* Counts bytes or values that are read, made or compared; dies where they are too many: loops in loops, and texts that are
 * joined with themselves, would not end. */
void jinja_work(struct jinja_run *run, size_t amount);

/* Takes over a value, which lives until the end of the rendering, and returns it. */
const struct tree *jinja_keep(struct jinja_run *run, struct tree *tree, bool borrows);

/* Whether it is white space of ASCII. */
bool jinja_space(char c);

/* Reads blanks; then, if the next characters are `sign` (jinja_word: the word, not the start of a longer one), reads them,
 * too. */
bool jinja_sign(struct jinja_run *run, const char *sign);
bool jinja_word(struct jinja_run *run, const char *word);
void jinja_expect(struct jinja_run *run, const char *sign);

/* Reads a name; returns its length, 0 if there is none. */
size_t jinja_name(struct jinja_run *run, const char **name);

/* As jinja_name, but dies if there is none; the text lives until the end of the rendering. */
const char *jinja_need_name(struct jinja_run *run);

/* The value of a variable; NULL: undefined. */
const struct tree *jinja_variable(struct jinja_run *run, const char *name, size_t length);

/* Reads a value and the .NAME, [ELEMENT], |FILTER and "is TEST" after it. */
const struct tree *jinja_whole(struct jinja_run *run);

/* Reads an expression; its value, NULL: undefined.  jinja_choice: one without "if", which has another meaning after the list of
 * a loop.  jinja_part: inside an expression. */
const struct tree *jinja_expression(struct jinja_run *run);
const struct tree *jinja_choice(struct jinja_run *run);
const struct tree *jinja_part(struct jinja_run *run);

/* namespace(NAME=VALUE, ...), after the parenthesis, and the assignment of a member, which dies if `of` is no namespace. */
const struct tree *jinja_namespace(struct jinja_run *run);
void jinja_assign(struct jinja_run *run, const struct tree *of, const char *name,
    const struct tree *value);

/* Values (jinja_value.c). */
bool jinja_true(const struct tree *value);
bool jinja_equal(struct jinja_run *run, const struct tree *a, const struct tree *b);
const struct tree *jinja_boolean(struct jinja_run *run, bool value);

/* The value if it is of that kind; else a fault, and an empty value. */
const struct tree *jinja_need(struct jinja_run *run, const struct tree *value,
    enum tree_kind kind, const char *what);

/* A member of an object; NULL: there is none.  An undefined object is a fault. */
const struct tree *jinja_member(
    struct jinja_run *run, const struct tree *of, const char *key);

/* An empty list with room for `count` borrowed items. */
struct tree *jinja_list(struct jinja_run *run, size_t count);

/* The text of both values; of NULL: nothing. */
const struct tree *jinja_joined(
    struct jinja_run *run, const struct tree *a, const struct tree *b);

/* A text without white space at its start, its end, or both. */
const struct tree *jinja_trimmed(
    struct jinja_run *run, const struct tree *text, bool left, bool right);

/* Reads a filter, its name and arguments, and applies it to a value. */
const struct tree *jinja_filtered(struct jinja_run *run, const struct tree *value);

/* Appends a value as {{ }} prints it. */
void jinja_print(struct jinja_run *run, struct buffer *to, const struct tree *value);

#endif
