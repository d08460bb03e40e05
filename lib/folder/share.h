/*
 * share - finds files that come with the programs: in share/motes/ beside the installed bin/; in share/ or the root of
 * the source tree.  All texts returned are to be freed.
 */
#ifndef FOLDER_SHARE_H
#define FOLDER_SHARE_H

/* The folder that the running program is in. */
char *share_programs(void);

/* The path of the file `name`.  Dies if none of these folders has it. */
char *share_path(const char *name);

/* The shell script `name` after a line VARIABLE='VALUE' for each pair of texts; NULL ends them. */
char *share_script(const char *name, const char *const *pairs);

#endif
