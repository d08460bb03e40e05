/*
 * tree - values of JSON and YAML files.
 *
 * Each node knows its file and line for messages: "FILE:LINE: key: what is wrong".  Getters die on a value of the wrong
 * kind; an absent or null value gives the default, if the getter has one.  Members keep their order.
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
	TREE_OBJECT,
	TREE_UNREAD /* yaml_entries.h */
};

struct tree {
	enum tree_kind kind;
	int line;	  /* 0: not known */
	const char *file; /* for messages; borrowed from the root's `name` */
	char *name;	  /* the root's own copy of the file name; NULL elsewhere */
	char *key;	  /* in an object; NULL elsewhere */
	bool boolean;
	int64_t integer; /* set for whole reals too */
	double real;	 /* set for integers too */
	bool repeated;	 /* members of this name have different values (tree_once) */
	char *
	    string; /* UTF-8, NUL-terminated; of a real: the digits of an integer beyond 64 bits */
	size_t length;	     /* bytes of the string; it may hold NULs */
	struct tree **items; /* members of an object, elements of a list */
	size_t count, capacity;
};

/* The member called key; NULL if it is absent or null, or if the object is NULL.  Dies as tree_once does. */
struct tree *tree_get(const struct tree *object, const char *key);

/* Dies if the object has several members of this name with different values. */
void tree_once(const struct tree *member);

/* Whether the value is missing: NULL, null, or NaN, which pandas writes for missing values. */
bool tree_is_missing(const struct tree *value);

/* Whether the value is an integer, or a real without a fraction: some writers spell 2 as 2.0 or 2e0. */
bool tree_is_whole(const struct tree *value);

/* As tree_get, but dies if the member is absent. */
struct tree *tree_need(const struct tree *object, const char *key);

const char *tree_string(
    const struct tree *object, const char *key, const char *otherwise);
int64_t tree_integer(const struct tree *object, const char *key, int64_t otherwise);
double tree_real(const struct tree *object, const char *key, double otherwise);
bool tree_boolean(const struct tree *object, const char *key, bool otherwise);

/* A required integer in a range; dies with the key, the value and the range. */
int64_t tree_integer_in(
    const struct tree *object, const char *key, int64_t least, int64_t most);

/* The same; `otherwise`, which need not be in the range, if it is absent or null. */
int64_t tree_integer_or(const struct tree *object, const char *key, int64_t otherwise,
    int64_t least, int64_t most);

/* The index of the text in the NULL-terminated `words`; `otherwise` if it is absent.  Dies, naming the words, on another text. */
int tree_word(
    const struct tree *object, const char *key, const char *const *words, int otherwise);

/* Dies unless the text is absent or `expected`. */
void tree_expect(const struct tree *object, const char *key, const char *expected);

/* Whether a NULL-terminated list has the name. */
bool tree_listed(const char *const *names, const char *name);

/* Dies if the object has a member that is not in the NULL-terminated list. */
void tree_only(const struct tree *object, const char *const *keys);

/* Dies; the message starts with FILE:LINE of the node. */
_Noreturn void tree_die(const struct tree *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Building.  The parent owns added nodes.  tree_set replaces a member of the same key; tree_add appends to a list.
 * Both return the value. */
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
/* A member of an object whose name an earlier one has; NULL: there is none. */
const struct tree *tree_repeated(const struct tree *object);

/* Keeps the last of duplicate members, in the place of the first; returns whether there were any. */
bool tree_unify(struct tree *object);
void tree_remove(struct tree *object, const char *key);
void tree_free(struct tree *tree);

#endif
