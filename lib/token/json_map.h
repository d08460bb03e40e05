/*
 * json_map - the large members of a JSON file, without a tree: a vocabulary, its merges.
 *
 * A tree of 30,000 members costs ten times what reading them costs.
 */
#ifndef TOKEN_JSON_MAP_H
#define TOKEN_JSON_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

/* Called in file order; texts are unescaped, valid UTF-8, borrowed. */
typedef void json_map_member(
    void *context, const char *text, size_t length, int64_t number);
typedef void json_map_pair(void *context, const char *left, size_t left_length,
    const char *right, size_t right_length);
typedef void json_map_score(
    void *context, const char *text, size_t length, double number);

enum { JSON_MAP_PARTS = 4 };

/*
 * A member to be read so: an object of integers, or a list: of strings or of pairs of strings (of a
 * string alone `right` is NULL), or of pairs of a string and a number.  A function that is NULL is a
 * form that the member does not have; of `pair` and `score` one is.
 *
 * Numbers are what the reference's reader makes of them, to the last bit: their first digits as one
 * integer below 2^64, rounded, times or divided by a power of ten, rounded again.
 */
struct json_map_part {
	const char *key;
	json_map_member *member;
	json_map_pair *pair;
	json_map_score *score;
	void (*end)(void *context); /* after the last, or NULL */
};

/*
 * Read a file of which the root's member `outer` (NULL: the root itself) has such members, at
 * most JSON_MAP_PARTS: they go to their functions, the parts one after the other in the order
 * given; the rest of the file is returned as a tree in which they are null.  What is not an
 * object or a list there stays in the tree.  Dies as json_read does.  The text is the file's; borrowed.
 */
struct tree *json_map_read(const char *path, const char *text, size_t length,
    const char *outer, const struct json_map_part *part, size_t parts, void *context);

#endif
