/*
 * json_map - reads large members of a JSON file, such as a vocabulary and merges, without making a tree.
 *
 * Making a tree of 30,000 members takes ten times as long as reading them.
 */
#ifndef TOKEN_JSON_MAP_H
#define TOKEN_JSON_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

/* Called in file order.  Texts are unescaped, valid UTF-8 and borrowed. */
typedef void json_map_member(
    void *context, const char *text, size_t length, int64_t number);
typedef void json_map_pair(void *context, const char *left, size_t left_length,
    const char *right, size_t right_length);
typedef void json_map_score(
    void *context, const char *text, size_t length, double number);

enum { JSON_MAP_PARTS = 4 };

/*
 * A member to read: an object of integers (`member`), a list of strings or of pairs of strings (`pair`; `right` is
 * NULL for a single string), or a list of pairs of a string and a number (`score`).  NULL: that form is not allowed;
 * at least one of `pair` and `score` is NULL.
 *
 * Reals are rounded twice, to the same bits as in the reference's reader: their first digits as an integer below 2^64,
 * then times or divided by a power of ten.
 */
struct json_map_part {
	const char *key;
	json_map_member *member;
	json_map_pair *pair;
	json_map_score *score;
	void (*end)(void *context); /* after the last, or NULL */
};

/*
 * Reads `parts` (at most JSON_MAP_PARTS) members of the root's member `outer` (NULL: of the root), one after the other
 * in the order given.  Returns the rest of the file as a tree, in which they are null; a member that is neither object
 * nor list stays in the tree.  Dies as json_read does.  text: the bytes of the file, borrowed.
 */
struct tree *json_map_read(const char *path, const char *text, size_t length,
    const char *outer, const struct json_map_part *part, size_t parts, void *context);

#endif
