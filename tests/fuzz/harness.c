#include "harness.h"

#include <errno.h>
#include <sanitizer/allocator_interface.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "text/expression.h"

const char *program_name = "fuzz";
int verbosity = -1, exit_failed = 1;

enum { SLOTS = 1 << 18, MAPS = 1024, FILES = 16 };

static struct {
	bool running;
	jmp_buf jump;
	const volatile void *held[SLOTS]; /* a hash table of allocations */
	size_t count;
	struct {
		void *at;
		size_t size;
	} maps[MAPS];
	size_t map_count;
	FILE *streams[FILES]; /* of fopen */
	size_t stream_count;
	int first_file; /* descriptors from this number on belong to the run */
} state;

/* err.h. --------------------------------------------------------------------------- */

static void
say(const char *format, va_list arguments)
{
	char text[4096];

	vsnprintf(text, sizeof text, format, arguments);
	if (getenv("FUZZ_SAY"))
		fprintf(stderr, "%s\n", text);
}

void
die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	if (!state.running)
		abort();
	longjmp(state.jump, 1);
}

void
die_usage(const char *format, ...)
{
	die("%s", format);
}

void
warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void
inform(const char *format, ...)
{
	(void)format;
}

void
before_death(void (*act)(void *context), void *context)
{
	(void)act;
	(void)context;
}

/* Memory of a run. ----------------------------------------------------------------- */

static size_t
home(const volatile void *at)
{
	return (size_t)((uintptr_t)at * 0x9e3779b97f4a7c15u >> 44) % SLOTS;
}

static size_t
slot_of(const volatile void *at)
{
	size_t slot = home(at);

	while (state.held[slot] && state.held[slot] != at)
		slot = (slot + 1) % SLOTS;
	return slot;
}

static void
allocated(const volatile void *at, size_t size)
{
	(void)size;
	if (!state.running || !at)
		return;
	if (++state.count > SLOTS / 2)
		abort(); /* too many allocations for a small file */
	state.held[slot_of(at)] = at;
}

static void
freed(const volatile void *at)
{
	if (!state.running || !at)
		return;
	size_t gap = slot_of(at);
	if (!state.held[gap])
		return;
	state.count--;
	state.held[gap] = NULL;
	/* later entries move up, so that a search can stop at a gap */
	for (size_t i = (gap + 1) % SLOTS; state.held[i]; i = (i + 1) % SLOTS)
		if ((i - home(state.held[i])) % SLOTS >= (i - gap) % SLOTS) {
			state.held[gap] = state.held[i];
			state.held[i] = NULL;
			gap = i;
		}
}

void *__real_mmap(
    void *at, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t size);
void *__wrap_mmap(
    void *at, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *at, size_t size);

void *
__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
	void *map = __real_mmap(at, size, protection, flags, file, offset);

	if (state.running && map != MAP_FAILED) {
		if (state.map_count == MAPS)
			abort();
		state.maps[state.map_count].at = map;
		state.maps[state.map_count++].size = size;
	}
	return map;
}

int
__wrap_munmap(void *at, size_t size)
{
	for (size_t i = 0; state.running && i < state.map_count; i++)
		if (state.maps[i].at == at)
			state.maps[i] = state.maps[--state.map_count];
	return __real_munmap(at, size);
}

FILE *__real_fopen(const char *path, const char *mode);
int __real_fclose(FILE *stream);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_fclose(FILE *stream);

FILE *
__wrap_fopen(const char *path, const char *mode)
{
	FILE *stream = __real_fopen(path, mode);

	if (state.running && stream) {
		if (state.stream_count == FILES)
			abort();
		state.streams[state.stream_count++] = stream;
	}
	return stream;
}

int
__wrap_fclose(FILE *stream)
{
	for (size_t i = 0; i < state.stream_count; i++)
		if (state.streams[i] == stream)
			state.streams[i] = state.streams[--state.stream_count];
	return __real_fclose(stream);
}

/* Frees all; returns the number of allocations. */
static size_t
take_back(void)
{
	size_t left = state.count + state.map_count;

	/* the C library frees the memory of streams, of which it keeps a list */
	state.running = true;
	while (state.stream_count)
		__wrap_fclose(state.streams[0]);
	state.running = false;

	for (size_t i = 0; i < state.map_count; i++)
		__real_munmap(state.maps[i].at, state.maps[i].size);
	for (size_t i = 0; state.count && i < SLOTS; i++)
		if (state.held[i]) {
			free((void *)(uintptr_t)state.held[i]);
			state.held[i] = NULL;
			state.count--;
		}
	state.map_count = 0;
	close_range((unsigned)state.first_file, ~0u, 0);
	return left;
}

void
harness_run(void (*run)(void *context), void *context)
{
	volatile bool died = false;

	if (!state.first_file) {
		/* Oniguruma keeps the memory of its first pattern */
		expression_free(expression_new("x", "(?i:a)\\p{L}", 11));
		__sanitizer_install_malloc_and_free_hooks(allocated, freed);
		state.first_file = dup(0) + 1;
		close(state.first_file - 1);
	}
	state.running = true;
	if (!setjmp(state.jump))
		run(context);
	else
		died = true;
	state.running = false;
	size_t left = take_back();
	if (left && !died) {
		fprintf(stderr,
		    "%zu pieces of memory are left by a run that ended well\n", left);
		abort();
	}
}

/* Files. --------------------------------------------------------------------------- */

static char folder[] = "/tmp/motes-fuzz-XXXXXX";

static struct {
	char path[256];
	int memory;
	bool linked;
} files[FILES];

static void
remove_files(void)
{
	for (int i = 0; i < FILES && *files[i].path; i++) {
		unlink(files[i].path);
		*strrchr(files[i].path, '/') = 0;
		rmdir(files[i].path);
	}
	rmdir(folder);
}

const char *
harness_folder(void)
{
	static bool made;

	if (!made && !mkdtemp(folder)) {
		perror(folder);
		abort();
	}
	if (!made)
		atexit(remove_files);
	made = true;
	return folder;
}

const char *
harness_file(const char *name, const void *bytes, size_t size)
{
	char path[256], link[64];
	int i = 0;

	snprintf(path, sizeof path, "%s/%s", harness_folder(), name);
	while (i < FILES && *files[i].path && strcmp(files[i].path, path))
		i++;
	if (i == FILES)
		abort();
	if (!*files[i].path) {
		strcpy(files[i].path, path);
		*strrchr(path, '/') = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			abort();
		files[i].memory = memfd_create(name, 0);
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", files[i].memory);
	if (!bytes) {
		unlink(files[i].path);
		files[i].linked = false;
		return files[i].path;
	}
	if (ftruncate(files[i].memory, 0) ||
	    pwrite(files[i].memory, bytes, size, 0) != (ssize_t)size ||
	    (!files[i].linked && symlink(link, files[i].path)))
		abort();
	files[i].linked = true;
	return files[i].path;
}

const uint8_t *
harness_part(const uint8_t *data, size_t size, int index, size_t *part_size)
{
	const uint8_t *end;

	for (; index; index--) {
		if (!size || !(end = memchr(data, 0xff, size)))
			return NULL;
		size -= (size_t)(end - data) + 1;
		data = end + 1;
	}
	end = size ? memchr(data, 0xff, size) : NULL;
	*part_size = end ? (size_t)(end - data) : size;
	return data;
}
