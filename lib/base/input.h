/*
 * input - reads files and pipes, decompressing gzip, zstd, xz and bzip2.
 *
 * input_peek shows the first bytes without consuming them, so a program can accept text or a .mts stream from the
 * same pipe.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct input;

/* Endings of compressed files (".gz", ...); ends with NULL. */
extern const char *const input_endings[];

/* Whether a file name of `length` bytes has this ending, perhaps before one of a compressed file: ".rst", as a.rst.gz. */
bool input_name_ends(const char *name, size_t length, const char *ending);

/* Opens a file; "-" is standard input.  Dies if it cannot be opened, or if standard input was opened before. */
struct input *input_open(const char *path);

/* Called by whoever reads standard input; the second call is a usage error. */
void input_take_stdin(void);

/* Reads an open file from its current offset; takes over the descriptor.  `name` is for messages. */
struct input *input_open_file(int file, const char *name);

/* The name in messages: the path, or "<stdin>". */
const char *input_name(const struct input *input);

/* Whether the decompressed bytes start with `bytes`.  Consumes nothing; call before the first read. */
bool input_starts_with(struct input *input, const char *bytes);

/* Copies up to `count` (at most 1 MiB) of the first decompressed bytes; returns how many.  Fewer than `count`: the file
 * ends there, or its compressed data are corrupt.  Consumes nothing; call before the first read. */
size_t input_peek(struct input *input, char *bytes, size_t count);

/* Whether the input is a regular file without compression.  Call before the first read. */
bool input_is_plain(struct input *input);

/* Reads decompressed bytes; returns fewer than `count` only at the end.  Dies on a corrupt or truncated file. */
size_t input_read(struct input *input, void *to, size_t count);

/* As input_read, but an uncompressed pipe returns the bytes that have arrived, at least one; 0 at the end. */
size_t input_read_some(struct input *input, void *to, size_t count);

/* Whether an uncompressed pipe or terminal stays silent for so many seconds.  False at once for any other input.  Call
 * after the first read. */
bool input_waits(struct input *input, double seconds);

/* Share of a regular file that has been consumed, 0 to 1; `unused`: bytes that were read and not consumed yet.  Below
 * 0: not a regular file. */
double input_share(const struct input *input, size_t unused);

/* Reads bytes without decompressing: up to `count`, at least one; 0 at the end.  Do not mix with input_read;
 * input_starts_with may come first. */
size_t input_read_raw(struct input *input, void *to, size_t count);
void input_close(struct input *input);

#endif
