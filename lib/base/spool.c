#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

static void
open_spool(struct spool *spool)
{
	const char *set = getenv("TMPDIR");
	bool given = spool->folder && *spool->folder;

	if (!given)
		spool->folder = set && *set ? set : "/tmp";
	int file = open(spool->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		char *path = mem_format("%s/motes-XXXXXX", spool->folder);
		file = mkostemp(path, O_CLOEXEC);
		if (file >= 0)
			unlink(path);
		free(path);
	}
	if (file < 0 || !(spool->file = fdopen(file, "w+")))
		die("%s: cannot make a temporary file there; choose another folder %s:",
		    spool->folder, given ? "with --tmpdir" : "by TMPDIR");
}

void
spool_write(struct spool *spool, const void *bytes, size_t count)
{
	if (!spool->file)
		open_spool(spool);
	if (count && fwrite(bytes, 1, count, spool->file) != count)
		die("%s: a temporary file there cannot be written:", spool->folder);
	spool->bytes += count;
}

int
spool_descriptor(struct spool *spool)
{
	if (!spool->file)
		open_spool(spool);
	if (fflush(spool->file))
		die("%s: a temporary file there cannot be written:", spool->folder);
	return fileno(spool->file);
}

const void *
spool_map(struct spool *spool)
{
	if (!spool->bytes)
		return "";
	spool->map =
	    mmap(NULL, spool->bytes, PROT_READ, MAP_PRIVATE, spool_descriptor(spool), 0);
	if (spool->map == MAP_FAILED)
		die("%s: a temporary file there cannot be mapped:", spool->folder);
	return spool->map;
}

void
spool_free(struct spool *spool)
{
	if (spool->map)
		munmap(spool->map, spool->bytes);
	if (spool->file)
		fclose(spool->file);
}
