/*
 * template - text around each input: 'This sentence : "{text}" means in one word:"'.
 */
#ifndef TOKEN_TEMPLATE_H
#define TOKEN_TEMPLATE_H

struct template
{
	char *before, *after;
};

/*
 * The template of --template: a text with {text}, or a name in share/templates.yaml.  An unknown name and a text with
 * two {text} are usage errors.  Dies if a template of the file is malformed.
 */
struct template template_find(const char *option);

/* The text of a template in share/templates.yaml, to be freed; NULL: there is none of that name.  Dies as above. */
char *template_text(const char *name);
void template_free(struct template *template);

#endif
