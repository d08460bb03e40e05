/*
 * memory_refused - a library to preload: one of the program's allocations after the start of main fails (tests/refuse)
 *
 * MEMORY_REFUSED: its number, from 1; 0: none fails.  MEMORY_COUNTED: a file that gets the number of allocations at the end,
 * a uint64_t.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t step, size_t bytes);
int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(void),
    void (*)(void), void (*)(void), void *);
void *memalign(size_t step, size_t bytes);

static uint64_t refused;
static _Atomic uint64_t *counted; /* NULL: main has not begun */

static bool
refuse(void)
{
	if (!counted || atomic_fetch_add(counted, 1) + 1 != refused)
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t bytes)
{
	return refuse() ? NULL : __libc_malloc(bytes);
}

void *
calloc(size_t count, size_t size)
{
	return refuse() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t bytes)
{
	return refuse() ? NULL : __libc_realloc(old, bytes);
}

void *
memalign(size_t step, size_t bytes)
{
	return refuse() ? NULL : __libc_memalign(step, bytes);
}

void *
aligned_alloc(size_t step, size_t bytes)
{
	return memalign(step, bytes);
}

int
posix_memalign(void **memory, size_t step, size_t bytes)
{
	*memory = memalign(step, bytes);
	return *memory ? 0 : ENOMEM;
}

int
__libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
    void (*init)(void), void (*fini)(void), void (*loader)(void), void *stack)
{
	typeof(__libc_start_main) *start =
	    (typeof(start))dlsym(RTLD_NEXT, "__libc_start_main");
	int file = open(getenv("MEMORY_COUNTED"), O_RDWR | O_CREAT, 0600);

	if (file < 0 || ftruncate(file, sizeof *counted))
		abort();
	refused = strtoull(getenv("MEMORY_REFUSED"), NULL, 10);
	void *shared =
	    mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED)
		abort();
	close(file);
	counted = shared;
	return start(main, argc, argv, init, fini, loader, stack);
}
