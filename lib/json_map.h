/*
 * json_map - the one large object of a JSON file, without a tree: a vocabulary.
 *
 * A tree of 30,000 members costs ten times what reading them costs.
 */
#ifndef JSON_MAP_H
#define JSON_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "tree.h"

/* Called for every member {"text": number} in file order; the text is unescaped, borrowed. */
typedef void json_map_member(
    void *context, const char *text, size_t length, int64_t number);

/*
 * Read a file of which the member `inner` of the root's member `outer` is an object of
 * integers: those go to `member`, the rest of the file is returned as a tree in which `inner`
 * is null.  Where the file has no such object, `member` is never called and the tree is whole.
 * Dies as json_read does.  The text is the file's, as file_read gave it; borrowed.
 */
struct tree *json_map_read(const char *path, const char *text, size_t length,
    const char *outer, const char *inner, json_map_member *member, void *context);

#endif
