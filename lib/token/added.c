#include "token/added.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* A node of a trie: a byte, the bytes that may follow, and the token that ends here. */
struct added_node {
	unsigned char byte;
	int32_t child, sibling; /* -1: none */
	int32_t token;		/* -1: none */
};

struct added {
	struct added_token *token;
	size_t count, capacity;
	struct added_node *node;
	size_t nodes, node_capacity;
	int32_t root[256]; /* by first byte; -1: none */
	int only;	   /* first byte of all tokens; -1: they differ */
};

struct added *
added_new(void)
{
	struct added *added = mem_zero(1, sizeof *added);

	memset(added->root, 0xFF, sizeof added->root);
	return added;
}

/* Finds or makes the node for `byte` in the list that starts at *first. */
static int32_t
step(struct added *added, int32_t first, unsigned char byte)
{
	for (int32_t n = first; n >= 0; n = added->node[n].sibling)
		if (added->node[n].byte == byte)
			return n;
	added->node = mem_grow(
	    added->node, &added->node_capacity, added->nodes + 1, sizeof *added->node);
	added->node[added->nodes] = (struct added_node){ byte, -1, first, -1 };
	return (int32_t)added->nodes++;
}

void
added_add(struct added *added, const struct added_token *token)
{
	const unsigned char *text = (const unsigned char *)token->text;

	if (!token->length)
		return;
	if (added->root[text[0]] < 0) {
		added->only = added->count == 0 ? text[0] : -1;
		added->root[text[0]] = step(added, -1, text[0]);
	}
	int32_t at = added->root[text[0]];
	for (size_t i = 1; i < token->length; i++) {
		size_t before = added->nodes;
		int32_t next = step(added, added->node[at].child, text[i]);
		if (added->nodes > before)
			added->node[at].child = next;
		at = next;
	}
	if (added->node[at].token < 0) {
		added->token = mem_grow(added->token, &added->capacity, added->count + 1,
		    sizeof *added->token);
		added->token[added->count].length = 0;
		added->node[at].token = (int32_t)added->count++;
	}
	struct added_token *slot = &added->token[added->node[at].token];
	if (slot->length && slot->id != token->id)
		return;
	*slot = *token;
	slot->text = NULL;
}

bool
added_any(const struct added *added)
{
	return added->count > 0;
}

static const struct added_token *
match(const struct added *added, const char *text, size_t length)
{
	int32_t found = -1, n = added->root[(unsigned char)*text];

	for (size_t i = 1; n >= 0; i++) {
		const struct added_node *node = &added->node[n];
		found = node->token >= 0 ? node->token : found;
		if (i == length)
			break;
		for (n = node->child;
		     n >= 0 && added->node[n].byte != (unsigned char)text[i];)
			n = added->node[n].sibling;
	}
	return found < 0 ? NULL : &added->token[found];
}

static bool
is_single(const char *text, size_t length, size_t start, size_t stop)
{
	int32_t code;

	if (start > 0) {
		utf8_before(text, start, &code);
		if (code >= 0 && utf8_traits(code) & UTF8_WORD)
			return false;
	}
	if (stop < length) {
		utf8_decode(text + stop, length - stop, &code);
		if (code >= 0 && utf8_traits(code) & UTF8_WORD)
			return false;
	}
	return true;
}

int32_t
added_find(const struct added *added, const char *text, size_t length, size_t from,
    size_t search, size_t *start, size_t *stop, size_t *resume)
{
	if (!added->count)
		return -1;
	while (search < length) {
		if (added->only >= 0) {
			const char *next =
			    memchr(text + search, added->only, length - search);
			if (!next)
				return -1;
			search = (size_t)(next - text);
		}
		const struct added_token *token =
		    match(added, text + search, length - search);
		if (!token) {
			search++;
			continue;
		}
		*start = search;
		search += token->length;
		*stop = *resume = search;
		if (token->single_word && !is_single(text, length, *start, *stop))
			continue;
		if (token->lstrip)
			*start = utf8_space_start(text, *start, from);
		if (token->rstrip)
			*stop = utf8_space_end(text, length, *stop);
		return token->id;
	}
	return -1;
}

void
added_free(struct added *added)
{
	free(added->token);
	free(added->node);
	free(added);
}
