#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

char *
file_read(const char *path, size_t *length)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (file < 0 || fstat(file, &status))
		die("%s:", path);
	if (!S_ISREG(status.st_mode))
		die("%s: not a regular file", path);
	size_t size = (size_t)status.st_size;
	char *text = mem_new(mem_add(size, 1, path), 1);
	*length = 0;
	for (ssize_t got; *length < size; *length += (size_t)got)
		if ((got = read(file, text + *length, size - *length)) <= 0)
			die("%s: cannot be read to its end", path);
	text[size] = 0;
	close(file);
	if (size > 24 && !memcmp(text, "version https://git-lfs", 23))
		die("%s: a Git LFS pointer, not the file itself; fetch it with 'git lfs "
		    "pull'",
		    path);
	return text;
}

char *
file_need(const char *path, size_t *length)
{
	char *text = file_read(path, length);

	if (!text)
		die("%s: no such file", path);
	return text;
}

static uint64_t
rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t
finish(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
	return x ^ x >> 33;
}

void
file_digest(const char *bytes, size_t length, char hex[33])
{
	const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;
	uint64_t h1 = 0, h2 = 0;

	for (size_t at = 0; at < length; at += 16) {
		uint64_t k[2] = { 0, 0 };
		size_t left = length - at;
		memcpy(k, bytes + at, left < 16 ? left : 16);
		h1 ^= rotate(k[0] * c1, 31) * c2;
		if (left >= 16)
			h1 = (rotate(h1, 27) + h2) * 5 + 0x52dce729;
		h2 ^= rotate(k[1] * c2, 33) * c1;
		if (left >= 16)
			h2 = (rotate(h2, 31) + h1) * 5 + 0x38495ab5;
	}
	h1 ^= length;
	h2 ^= length;
	h1 += h2;
	h2 += h1;
	h1 = finish(h1);
	h2 = finish(h2);
	h1 += h2;
	h2 += h1;
	snprintf(
	    hex, 33, "%016llx%016llx", (unsigned long long)h1, (unsigned long long)h2);
}
