/*
 * share - files that come with the programs: share/motes/ beside the bin/ that they were installed
 * into; share/ of the sources that they were built in, or the sources themselves (pipelines/).
 */
#ifndef FOLDER_SHARE_H
#define FOLDER_SHARE_H

/* The path of the file called `name`, to be freed; dies, naming two of the places, where it is in none. */
char *share_path(const char *name);

#endif
