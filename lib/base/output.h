/*
 * output - writes files whole or not at all.
 *
 * A file is written beside its target.  output_finish syncs it, renames it into place and syncs the folder: a reader
 * never sees half a file.  A program that dies or is ended by a signal leaves the target unchanged.  A replaced file
 * keeps its mode.  A symbolic link is followed, even to a target that does not exist.  Pipes and devices are written
 * directly.  "-" is standard output.
 *
 * Every call dies on a write error and names the file.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output;

/* binary: dies if the output is a terminal. */
struct output *output_open(const char *path, bool binary);

/* The same for an unfinished file at `path`; messages have the name of its target. */
struct output *output_open_as(const char *path, const char *name, bool binary);

/* Redirects stdout, and so printf, to the path until output_finish. */
struct output *output_print(const char *path);

/* The name in messages: the path, or "<stdout>". */
const char *output_name(const struct output *output);

/* Whether the output is a pipe or socket: then speed counts for more than size. */
bool output_is_pipe(const struct output *output);

/* Buffered; large writes bypass the buffer. */
void output_write(struct output *output, const void *bytes, size_t count);
void output_flush(struct output *output);

/* Flushes and returns a path, to be freed, under which the unfinished file can be opened to write at other offsets.
 * others: other processes open it, too; then the path is beside the target, else below /proc. */
char *output_place(struct output *output, bool others);

/* Flushes, renames into place, closes and frees. */
void output_finish(struct output *output);

#endif
