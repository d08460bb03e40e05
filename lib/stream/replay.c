#include "stream/replay.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/spool.h"

enum { CHUNK = 1 << 16 };

struct replay {
	char *name;
	int file; /* seekable */
	off_t start;
	bool own; /* close `file`; false for standard input and the spool */
	struct spool spool;
};

static void
keep(struct replay *replay)
{
	struct input *input = input_open_file(replay->file, replay->name);
	char *chunk = mem_new(CHUNK, 1);
	size_t count;

	while ((count = input_read_raw(input, chunk, CHUNK)))
		spool_write(&replay->spool, chunk, count);
	free(chunk);
	input_close(input);
	replay->file = spool_descriptor(&replay->spool);
	replay->own = false;
	replay->start = 0;
}

struct replay *
replay_open(const char *path)
{
	struct replay *replay = mem_zero(1, sizeof *replay);
	struct stat status;

	replay->own = strcmp(path, "-") != 0;
	if (!replay->own)
		input_take_stdin();
	replay->name = mem_string(replay->own ? path : "<stdin>");
	replay->file = replay->own ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (replay->file < 0 || fstat(replay->file, &status))
		die("%s:", replay->name);
	if (S_ISREG(status.st_mode))
		replay->start = lseek(replay->file, 0, SEEK_CUR);
	else
		keep(replay);
	return replay;
}

struct reader *
replay_reader(struct replay *replay)
{
	int file = fcntl(replay->file, F_DUPFD_CLOEXEC, 3);

	if (file < 0 || lseek(file, replay->start, SEEK_SET) < 0)
		die("%s: cannot be read again:", replay->name);
	return stream_open_input(input_open_file(file, replay->name));
}

void
replay_close(struct replay *replay)
{
	if (replay->own)
		close(replay->file);
	spool_free(&replay->spool);
	free(replay->name);
	free(replay);
}
