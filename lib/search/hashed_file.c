#include "search/hashed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"

enum { BUFFER = 1 << 20 };

struct hashed_file {
	char *path;
	int file;
	XXH3_state_t *state;
	size_t used;
	char buffer[BUFFER];
};

static void
write_hash(char hash[HASH_ROOM], uint64_t value)
{
	snprintf(hash, HASH_ROOM, "%016" PRIx64, value);
}

void
hash_bytes(char hash[HASH_ROOM], const void *bytes, size_t count)
{
	write_hash(hash, XXH3_64bits(bytes, count));
}

struct hashed_file *
hashed_file_open(const char *path, uint64_t size)
{
	struct hashed_file *file = mem_new(1, sizeof *file);
	struct stat status;

	file->path = mem_string(path);
	file->used = 0;
	if (!size)
		temporary_made(path);
	file->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (file->file < 0)
		die("%s:", path);
	if (fstat(file->file, &status))
		die("%s:", path);
	if ((uint64_t)status.st_size < size)
		die("%s: it is shorter than its index says; make the index again", path);
	if (ftruncate(file->file, (off_t)size) || lseek(file->file, 0, SEEK_END) < 0)
		die("%s:", path);
	file->state = XXH3_createState();
	if (!file->state || XXH3_64bits_reset(file->state) == XXH_ERROR)
		die("%s: there is no memory for a checksum", path);
	return file;
}

static void
flush(struct hashed_file *file)
{
	const char *at = file->buffer;

	XXH3_64bits_update(file->state, at, file->used);
	while (file->used) {
		ssize_t done = write(file->file, at, file->used);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			die("%s:", file->path);
		at += done;
		file->used -= (size_t)done;
	}
}

void
hashed_file_write(struct hashed_file *file, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		size_t room = BUFFER - file->used, some = count < room ? count : room;
		memcpy(file->buffer + file->used, at, some);
		file->used += some;
		at += some;
		count -= some;
		if (file->used == BUFFER)
			flush(file);
	}
}

void
hashed_file_end(struct hashed_file *file, char hash[HASH_ROOM])
{
	flush(file);
	if ((fsync(file->file) && errno != EINVAL && errno != EROFS) || close(file->file))
		die("%s:", file->path);
	write_hash(hash, XXH3_64bits_digest(file->state));
	XXH3_freeState(file->state);
	free(file->path);
	free(file);
}
