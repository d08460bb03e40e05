/*
 * template - text before and after each text: 'This sentence : "{text}" means in one word:"'.
 */
#ifndef TOKEN_TEMPLATE_H
#define TOKEN_TEMPLATE_H

struct template
{
	char *before, *after;
};

/*
 * What --template asks for: a text that holds {text} is a template itself, any other the name of one in
 * share/templates.yaml.  A text without a place for {text}, or with two, and a name that is none are
 * usage faults; dies where a line of the file is no template.
 */
struct template template_find(const char *option);

/* The text of one in share/templates.yaml, to be freed; NULL where it has none of that name.  Dies as above. */
char *template_text(const char *name);
void template_free(struct template *template);

#endif
