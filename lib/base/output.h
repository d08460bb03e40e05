/*
 * output - files written whole or not at all.
 *
 * A path is written beside its target and renamed into place, after fsync, by
 * output_finish, which syncs the folder, too: a reader never sees half a file, and a program that
 * dies or is ended by a signal leaves the target as it was, and nothing beside it.  A file that is
 * replaced keeps its mode.  A symbolic link is followed, also if its target does not exist yet.  "-" is standard output.  Pipes and devices are written directly.
 *
 * Every call dies, naming the file, when bytes cannot be written.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output;

/* binary: refuse to write to a terminal. */
struct output *output_open(const char *path, bool binary);

/* Text, for printf: until output_finish, what goes to stdout goes to the path. */
struct output *output_print(const char *path);

/* How messages call it: the path, or "<stdout>". */
const char *output_name(const struct output *output);

/* Whether bytes go to a pipe or socket, so that time counts for more than size. */
bool output_is_pipe(const struct output *output);

/* Buffered; large pieces go out as they are. */
void output_write(struct output *output, const void *bytes, size_t count);
void output_flush(struct output *output);

/* Flush; a name, to be freed, under which the file can be opened until output_finish, to write at other places of it:
 * by this process, or by others, too, and then it has that name beside its target. */
char *output_place(struct output *output, bool others);

/* Flush, put in place, close, free. */
void output_finish(struct output *output);

#endif
