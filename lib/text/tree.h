/*
 * tree - configuration trees: what JSON and YAML files say, in one shape.
 *
 * A tree knows where it came from (file name; line where the parser tells it),
 * so that a wrong value is reported as "FILE:LINE: key: what is wrong".
 * Getters die on a value of the wrong kind; an absent or null value takes the
 * default where the getter has one.  Order of members is kept.
 */
#ifndef TEXT_TREE_H
#define TEXT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tree_kind {
	TREE_NULL,
	TREE_BOOL,
	TREE_INTEGER,
	TREE_REAL,
	TREE_STRING,
	TREE_LIST,
	TREE_OBJECT
};

struct tree {
	enum tree_kind kind;
	int line;	  /* 0: not known */
	const char *file; /* for messages; borrowed from the root's name */
	char *name;	  /* the root's own copy of the file name; NULL elsewhere */
	char *key;	  /* in an object; NULL elsewhere */
	bool boolean;
	int64_t integer;
	double real;   /* set for integers too */
	bool repeated; /* members of this name say different things: see tree_once */
	char *
	    string; /* UTF-8, NUL-terminated; of a real: the digits of an integer beyond 64 bits */
	size_t length;	     /* bytes of the string; it may hold NULs */
	struct tree **items; /* members of an object, elements of a list */
	size_t count, capacity;
};

/* The member called key, or NULL when absent or null.  A NULL object has none.  Dies as tree_once does. */
struct tree *tree_get(const struct tree *object, const char *key);

/* Dies on a member whose name stands several times in its object with different values. */
void tree_once(const struct tree *member);

/* Whether nothing is there: NULL, null, or NaN, which Python writes for what is missing. */
bool tree_is_missing(const struct tree *value);

/* The same as tree_get, but dies when it is absent. */
struct tree *tree_need(const struct tree *object, const char *key);

const char *tree_string(
    const struct tree *object, const char *key, const char *otherwise);
int64_t tree_integer(const struct tree *object, const char *key, int64_t otherwise);
double tree_real(const struct tree *object, const char *key, double otherwise);
bool tree_boolean(const struct tree *object, const char *key, bool otherwise);

/* Required integers with a range: dies with the file, the key, the value, the range. */
int64_t tree_integer_in(
    const struct tree *object, const char *key, int64_t least, int64_t most);

/* The same, but absent or null is `otherwise`, whatever the range. */
int64_t tree_integer_or(const struct tree *object, const char *key, int64_t otherwise,
    int64_t least, int64_t most);

/* Die when the object has a member that is not in the NULL-terminated list: a typo. */
void tree_only(const struct tree *object, const char *const *keys);

/* Die with the FILE:LINE of the node before the message. */
_Noreturn void tree_die(const struct tree *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Building.  The parent owns what is added; setting a key again replaces it.
 * tree_add appends to a list.  A NULL key makes a list element or a root. */
struct tree *tree_object(void);
struct tree *tree_list(void);
struct tree *tree_set(struct tree *object, const char *key, struct tree *value);
struct tree *tree_add(struct tree *list, struct tree *value);
struct tree *tree_of_string(const char *text);
struct tree *tree_of_bytes(const char *text, size_t length);
struct tree *tree_of_integer(int64_t value);
struct tree *tree_of_real(double value);
struct tree *tree_of_number(double value); /* real; null if it is not finite */
struct tree *tree_of_digits(const char *digits, size_t length, double value);
struct tree *tree_of_boolean(bool value);
struct tree *tree_of_null(void);
struct tree *tree_copy(const struct tree *tree);
bool tree_equal(
    const struct tree *a, const struct tree *b); /* order of members ignored */
/* Of members of one name keep the last, in the place of the first; returns whether there were any. */
bool tree_unify(struct tree *object);
void tree_remove(struct tree *object, const char *key);
void tree_free(struct tree *tree);

#endif
