/*
 * pair_template - the text that a language model is asked with about a query and a document, by a chat template.
 *
 * The template is that of the folder (chat.h), as sentence-transformers' CrossEncoder uses it: it renders a message of the role "query"
 * and one of the role "document", and one of the role "system" with the instruction before them.
 */
#ifndef TOKEN_PAIR_TEMPLATE_H
#define TOKEN_PAIR_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "token/ids.h"
#include "token/pair.h"
#include "token/tokenizer.h"

struct pair_template;

struct pair_asking {
	const char *template; /* a name in share/rerankers.yaml; NULL: the folder's */
	const char
	    *instruction; /* NULL: the folder's default prompt, else the template's own */
};

/* Whether pairs of the model in `dir` are made by its chat template. */
bool pair_template_is(const char *dir);

/* The template of a model; NULL: pairs are joined as in pair.h.  Dies if a template was asked for and has no place for a query, a
 * document or the instruction.  The tokenizer is borrowed. */
struct pair_template *pair_template_open(
    const char *dir, const struct tokenizer *tokenizer, const struct pair_asking *asking);
void pair_template_free(struct pair_template *template);

/* Dies if `most` ids (0: no limit) leave no room for texts. */
void pair_template_demand(const struct pair_template *template, size_t most);

/* Appends the ids of a pair, at most `most` of them (0: no limit).  Thread-safe. */
enum pair_outcome pair_template_encode(const struct pair_template *template,
    const char *first, size_t first_length, const char *second, size_t second_length,
    size_t most, enum pair_truncation truncation, struct ids *out);

/* The tokens of the answers for and against a document, of a named template, to be freed; against may be NULL. */
void pair_template_answers(const char *name, char **positive, char **negative);

#endif
