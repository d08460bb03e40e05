/*
 * text_options - which members of a file's records are a task's texts, as options of tok.
 */
#ifndef MTEB_TEXT_OPTIONS_H
#define MTEB_TEXT_OPTIONS_H

/*
 * The options of tok that take the texts of a file for a type of task ("corpus" for that of
 * retrieval): "-f sentence1=sent1 -f sentence2=sent2".  By the members of the first records; dies
 * when they are none that the type knows.  To be freed.
 */
char *text_options(const char *type, const char *path);

#endif
