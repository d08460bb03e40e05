/*
 * text_fields - finds the members of a file's records that hold a task's texts, as options of tok.
 */
#ifndef MTEB_TEXT_FIELDS_H
#define MTEB_TEXT_FIELDS_H

/*
 * Returns tok's options for the texts of a file of this type ("corpus": retrieval's corpus):
 * "-f sentence1=sent1 -f sentence2=sent2".  An instruction follows its query, as in mteb.  Looks at the first records; dies if they lack a member that
 * the type needs.  The caller frees it.
 */
char *text_fields_options(const char *type, const char *path);

#endif
