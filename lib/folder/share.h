/*
 * share - finds files that come with the programs: in share/motes/ beside the installed bin/; in share/ or the root of
 * the source tree.
 */
#ifndef FOLDER_SHARE_H
#define FOLDER_SHARE_H

/* The path of the file, to be freed; dies if it is in none of these places. */
char *share_path(const char *name);

#endif
