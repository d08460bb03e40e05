/*
 * input - files as bytes: plain, or packed by gzip, zstd, xz or bzip2.
 *
 * The first bytes can be looked at without being consumed, so that a program can
 * take either text or a tensor stream from the same pipe.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct input;

/* What the names of packed files end in, up to NULL. */
extern const char *const input_endings[];

/* Opens a file; "-" is standard input.  Dies if it cannot be opened, or if standard input was opened before. */
struct input *input_open(const char *path);

/* Called by whoever reads standard input; the second call is a usage error. */
void input_take_stdin(void);

/* A file that is open, from where it stands; it is taken over, and messages call it `name`. */
struct input *input_open_file(int file, const char *name);

/* How messages call it: the path, or "<stdin>". */
const char *input_name(const struct input *input);

/* Whether the (decompressed) bytes start with these; consumes nothing.  Before the first
 * read only. */
bool input_starts_with(struct input *input, const char *bytes);

/* The first (decompressed) bytes, at most `count` of the first MiB; returns how many there are, fewer
 * than that at the end or where the packed data are damaged.  Consumes nothing.  Before the first read only. */
size_t input_peek(struct input *input, char *bytes, size_t count);

/* Whether the bytes are those of a regular file as they stand in it: neither packed nor a pipe.
 * Before the first read only. */
bool input_is_plain(struct input *input);

/* Decompressed bytes; returns fewer than count only at the end.  Dies on a corrupt
 * or truncated file, naming it. */
size_t input_read(struct input *input, void *to, size_t count);

/* The same, but what is not packed as it comes: at least one byte, 0 at the end. */
size_t input_read_some(struct input *input, void *to, size_t count);

/* Whether no byte has come within so many seconds, where the input is a pipe or a terminal and not
 * packed: nothing else is waited for.  After the first read. */
bool input_waits(struct input *input, double seconds);

/* How much of a regular file, packed or not, is used up: 0 to 1, where `unused` bytes of those that were
 * read are not; below 0: it is none. */
double input_share(const struct input *input, size_t unused);

/* The bytes as they are in the file, not decompressed: as many as are at hand, up to count
 * and at least one; 0 at the end.  Not to be mixed with input_read (input_starts_with may
 * come first). */
size_t input_read_raw(struct input *input, void *to, size_t count);
void input_close(struct input *input);

#endif
