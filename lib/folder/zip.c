#include "folder/zip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { LOCAL = 30, CENTRAL = 46, END = 22, LOCATOR = 20, END64 = 56 };
static const uint32_t none16 = 0xffff, none32 = 0xffffffff; /* a field that zip64 has */

/* A file being read; list: offset of the central directory. */
struct zip_reader {
	const char *path, *bytes;
	size_t size, list, list_size, count;
	size_t past; /* end of the data of the entries read so far */
};

/* A little-endian integer of `count` bytes. */
static uint64_t
number(const char *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | (unsigned char)at[bytes];
	return value;
}

_Noreturn static void
fail(const struct zip_reader *file, const char *what)
{
	die("%s: not a zip file that can be read: %s", file->path, what);
}

/* Reads the end record of zip64, for values that do not fit into the other. */
static void
find_large(struct zip_reader *file, size_t end)
{
	if (end < LOCATOR + END64)
		fail(file, "its end record is damaged");
	const char *locator = file->bytes + end - LOCATOR;
	uint64_t at = number(locator + 8, 8);
	if (memcmp(locator, "PK\6\7", 4) || at > end - LOCATOR - END64 ||
	    memcmp(file->bytes + at, "PK\6\6", 4))
		fail(file, "its end record is damaged");
	const char *record = file->bytes + at;
	file->count = number(record + 32, 8);
	file->list_size = number(record + 40, 8);
	file->list = number(record + 48, 8);
}

static void
find_list(struct zip_reader *file)
{
	if (file->size < END || memcmp(file->bytes + file->size - END, "PK\5\6", 4))
		fail(file, "it has no end record; truncated?");
	size_t end = file->size - END;
	const char *record = file->bytes + end;
	file->count = number(record + 10, 2);
	file->list_size = number(record + 12, 4);
	file->list = number(record + 16, 4);
	if (number(record + 4, 4) || number(record + 20, 2))
		fail(file, "it is one of several, or has a comment");
	if (file->count == none16 || file->list_size == none32 || file->list == none32)
		find_large(file, end);
	if (file->list > end || file->list_size > end - file->list ||
	    file->count > file->list_size / CENTRAL)
		fail(file, "its list of entries lies outside the file");
}

/* Reads the numbers that do not fit into an entry's own fields, in this order, from its zip64 field. */
static void
widen(const struct zip_reader *file, const char *extra, size_t length, uint64_t **wide)
{
	while (length >= 4) {
		size_t size = number(extra + 2, 2);
		const char *at = extra + 4;
		if (size > length - 4)
			fail(file, "an entry's further fields are damaged");
		length -= 4 + size;
		extra += 4 + size;
		if (number(at - 4, 2) != 1)
			continue;
		for (; *wide && size >= 8; wide++, at += 8, size -= 8)
			**wide = number(at, 8);
	}
	if (*wide)
		fail(file, "an entry's size or place is missing");
}

/* Checks the local header of an entry; returns the start of its data. */
static size_t
data_of(const struct zip_reader *file, const char *name, size_t length, uint64_t at)
{
	if (at < file->past || at > file->list || file->list - at < LOCAL + length)
		fail(file, "an entry overlaps another, or lies outside the file");
	const char *local = file->bytes + at;
	size_t before = LOCAL + length + number(local + 28, 2);
	if (memcmp(local, "PK\3\4", 4) || number(local + 8, 2) ||
	    number(local + 26, 2) != length || memcmp(local + LOCAL, name, length))
		fail(file, "an entry is not what the list says");
	if (file->list - at < before)
		fail(file, "an entry lies outside the file");
	return at + before;
}

/* Reads an entry of the directory, `left` bytes before its end; returns its size there. */
static size_t
read_entry(struct zip_reader *file, const char *at, size_t left, struct zip_entry *entry)
{
	if (left < CENTRAL || memcmp(at, "PK\1\2", 4))
		fail(file, "its list of entries is damaged");
	size_t length = number(at + 28, 2), extra = number(at + 30, 2);
	size_t all = CENTRAL + length + extra + number(at + 32, 2);
	if (all > left || memchr(at + CENTRAL, 0, length))
		fail(file, "its list of entries is damaged");
	uint64_t packed = number(at + 20, 4), size = number(at + 24, 4),
		 place = number(at + 42, 4), *wide[4], **to = wide;
	if (size == none32)
		*to++ = &size;
	if (packed == none32)
		*to++ = &packed;
	if (place == none32)
		*to++ = &place;
	*to = NULL;
	if (*wide)
		widen(file, at + CENTRAL + length, extra, wide);
	if (number(at + 10, 2) || number(at + 8, 2) & 1 || packed != size)
		die("%s: entry '%.*s' is compressed or encrypted; only stored entries can be read",
		    file->path, (int)(length < 200 ? length : 200), at + CENTRAL);
	size_t data = data_of(file, at + CENTRAL, length, place);
	if (size > file->list - data)
		fail(file, "an entry lies outside the file");
	file->past = data + size;
	*entry = (struct zip_entry){ mem_format("%.*s", (int)length, at + CENTRAL),
		file->bytes + data, size };
	return all;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(
	    ((const struct zip_entry *)a)->name, ((const struct zip_entry *)b)->name);
}

struct zip *
zip_read(const char *path, const char *bytes, size_t size)
{
	struct zip_reader file = { .path = path, .bytes = bytes, .size = size };
	struct zip *zip = mem_zero(1, sizeof *zip);

	find_list(&file);
	const char *at = bytes + file.list, *end = at + file.list_size;
	zip->entries = mem_new(file.count, sizeof *zip->entries);
	for (; zip->count < file.count; zip->count++)
		at +=
		    read_entry(&file, at, (size_t)(end - at), &zip->entries[zip->count]);
	if (at != end)
		fail(&file, "its list of entries is damaged");
	qsort(zip->entries, zip->count, sizeof *zip->entries, by_name);
	for (size_t i = 1; i < zip->count; i++)
		if (!by_name(&zip->entries[i - 1], &zip->entries[i]))
			die("%s: entry '%s' is there twice", path, zip->entries[i].name);
	return zip;
}

const struct zip_entry *
zip_find(const struct zip *zip, const char *name)
{
	struct zip_entry key = { .name = (char *)name };

	return bsearch(&key, zip->entries, zip->count, sizeof key, by_name);
}

void
zip_free(struct zip *zip)
{
	for (size_t i = 0; i < zip->count; i++)
		free(zip->entries[i].name);
	free(zip->entries);
	free(zip);
}
